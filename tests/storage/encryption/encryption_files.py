"""EncryptionConfiguration files for tests."""

import base64
from collections.abc import Sequence
from typing import Any

import orjson

Provider = dict[str, Any]

IDENTITY: Provider = {"identity": {}}


def secret(letter: str, size: int = 32) -> str:
    """Key material that a test can look for where it must not be."""
    return base64.b64encode(letter.encode() * size).decode()


def keyed(kind: str, *names: str) -> Provider:
    """An aescbc, aesgcm or secretbox provider; each name stands for its own secret."""
    return {kind: {"keys": [{"name": name, "secret": secret(name[-1])} for name in names]}}


def kms(endpoint: str, *, name: str = "vault", timeout: str = "60s") -> Provider:
    return {"kms": {"apiVersion": "v2", "name": name, "endpoint": endpoint, "timeout": timeout}}


def rule(resources: Sequence[str], *providers: Provider) -> dict[str, Any]:
    return {"resources": list(resources), "providers": list(providers)}


def configuration(*rules: dict[str, Any]) -> bytes:
    """The file (JSON is YAML)."""
    return orjson.dumps(
        {
            "apiVersion": "apiserver.config.k8s.io/v1",
            "kind": "EncryptionConfiguration",
            "resources": list(rules),
        }
    )
