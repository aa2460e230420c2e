"""EncryptionConfiguration (apiserver.config.k8s.io/v1): the file behind --encryption-provider-config, as data.

Decodes strictly: unknown fields, wrong types and doubled keys are errors. What the values mean together is checked in
encryption_rules.py. Must hold: no error message and no representation shows key material.
"""

import base64
import re
from collections.abc import Sequence
from typing import Annotated, Any, Self

import pydantic
from msgspec import Struct

from aio_apiserver.storage.encryption import strict_yaml
from aio_apiserver.storage.errors import StorageError

_KINDS = (("apiserver.config.k8s.io/v1", "EncryptionConfiguration"), ("v1", "EncryptionConfig"))
"""The second one is what an old documentation told people to write; kube-apiserver takes it as well."""


class InvalidEncryptionConfig(StorageError):
    """The encryption configuration cannot be used; the message says where and why."""


class GroupResource(Struct, frozen=True):
    """A resource in its group, "" for core; either may be "*"."""

    group: str
    resource: str

    @classmethod
    def parse(cls, text: str) -> Self:
        """From the form of the file: secrets, deployments.apps, *.apps, *. (all of core), *.* (all)."""
        resource, _, group = text.partition(".")
        return cls(group, resource)

    def __str__(self) -> str:
        if self.group:
            return f"{self.resource}.{self.group}"
        return "*." if self.resource == "*" else self.resource


def _seconds(text: Any) -> float:
    """Go's notation of durations: 3s, 1m30s, 250ms."""
    if not isinstance(text, str) or not _DURATION.fullmatch(text):
        raise ValueError("not a duration like 3s or 250ms")
    seconds = sum(float(number) * _UNITS[unit] for number, unit in _PART.findall(text))
    return -seconds if text.startswith("-") else seconds


_PART = re.compile(r"([0-9]+\.?[0-9]*|\.[0-9]+)(ns|us|µs|ms|s|m|h)")
_DURATION = re.compile(rf"[+-]?(?:0|(?:{_PART.pattern})+)")
_UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}


class _Model(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="forbid", strict=True, frozen=True, hide_input_in_errors=True)

    @pydantic.model_validator(mode="before")
    @classmethod
    def _null_is_absent(cls, data: Any) -> Any:
        return {name: value for name, value in data.items() if value is not None} if isinstance(data, dict) else data


class Key(_Model):
    """A named secret, base64 in the file."""

    name: str = ""
    secret: pydantic.SecretStr = pydantic.SecretStr("")

    def material(self) -> bytes:
        """The key itself. Raises ValueError."""
        text = self.secret.get_secret_value().replace("\r", "").replace("\n", "")
        return base64.b64decode(text, validate=True)


class Keys(_Model):
    """aesgcm, aescbc, secretbox: the first key writes, all read."""

    keys: list[Key] = []


class Identity(_Model):
    """Values as they are."""


class Kms(_Model):
    """A plugin on a unix socket. `timeout` in seconds, for each call."""

    api_version: str = pydantic.Field("v1", alias="apiVersion")
    name: str = ""
    endpoint: str = ""
    timeout: Annotated[float, pydantic.BeforeValidator(_seconds)] = 3.0
    cachesize: int | None = None


class Provider(_Model):
    """Exactly one of them is set."""

    aesgcm: Keys | None = None
    aescbc: Keys | None = None
    secretbox: Keys | None = None
    identity: Identity | None = None
    kms: Kms | None = None

    def names(self) -> Sequence[str]:
        """Which of them are set."""
        return [name for name in type(self).model_fields if getattr(self, name) is not None]


class ResourceRule(_Model):
    """Resources and their providers: the first provider writes, all read."""

    resources: list[str] = []
    providers: list[Provider] = []


class EncryptionConfiguration(_Model):
    """The file."""

    api_version: str = pydantic.Field("", alias="apiVersion")
    kind: str = ""
    resources: list[ResourceRule] = []


def decode(data: bytes) -> EncryptionConfiguration:
    """The configuration in the bytes of a file. Raises InvalidEncryptionConfig."""
    try:
        content = strict_yaml.load(data)
    except ValueError as exc:
        raise InvalidEncryptionConfig(str(exc)) from exc
    _check_kind(content)
    try:
        return EncryptionConfiguration.model_validate(content)
    except pydantic.ValidationError as exc:
        problems = [_problem(error) for error in exc.errors(include_input=False, include_url=False)]
        raise InvalidEncryptionConfig("strict decoding error: " + ", ".join(problems)) from None


def _check_kind(content: Any) -> None:
    if not isinstance(content, dict):
        raise InvalidEncryptionConfig("the file holds no object")
    for field in ("apiVersion", "kind"):
        if not content.get(field):
            raise InvalidEncryptionConfig(f"Object '{field[0].upper()}{field[1:]}' is missing")
    if (content["apiVersion"], content["kind"]) not in _KINDS:
        raise InvalidEncryptionConfig(
            f"no kind {content['kind']!r} is registered for version {content['apiVersion']!r}: "
            "expected EncryptionConfiguration of apiserver.config.k8s.io/v1"
        )


def _problem(error: Any) -> str:
    path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in error["loc"]).lstrip(".")
    return f'unknown field "{path}"' if error["type"] == "extra_forbidden" else f"{path}: {error['msg']}"
