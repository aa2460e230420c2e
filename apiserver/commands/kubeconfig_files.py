"""kubeconfig_files: kubeconfig documents with one cluster, one user and one context, and their merge into a file.

Must hold: a merge keeps all other entries of the file. It holds the lock of client-go (`FILE.lock`), so that kubectl
does not write at the same time. The file is replaced as a whole, with mode 0600.
"""

import base64
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from msgspec import Struct

from aio_apiserver.base import private_files
from aio_apiserver.registry.machinery.serializers import yaml
from aio_apiserver.storage.encryption import strict_yaml

_LISTS = ("clusters", "users", "contexts")


class KubeconfigEntry(Struct, frozen=True, kw_only=True):
    """A cluster and a user's credentials. authority: the certificate in PEM with which clients verify the server."""

    cluster: str
    user: str
    context: str
    server: str
    authority: bytes
    credentials: Mapping[str, str]


def certificate_credentials(certificate: bytes, key: bytes) -> Mapping[str, str]:
    """The credentials of a user with a client certificate."""
    return {"client-certificate-data": _encoded(certificate), "client-key-data": _encoded(key)}


def document(entry: KubeconfigEntry) -> dict[str, Any]:
    """The kubeconfig of an entry."""
    cluster = {"server": entry.server, "certificate-authority-data": _encoded(entry.authority)}
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": entry.cluster, "cluster": cluster}],
        "users": [{"name": entry.user, "user": dict(entry.credentials)}],
        "contexts": [{"name": entry.context, "context": {"cluster": entry.cluster, "user": entry.user}}],
        "current-context": entry.context,
    }


def merge(path: Path, added: Mapping[str, Any]) -> None:
    """Add the entries of a kubeconfig to a file, in place of those with their names. Raises OSError, ValueError."""
    target = private_files.followed(path.expanduser())
    private_files.make_private(target.parent)
    with _locked(target):
        present = _read(target) if target.exists() else {}
        private_files.put(target, yaml.dump(_merged(present, added)))


def _read(path: Path) -> dict[str, Any]:
    present = strict_yaml.load(path.read_bytes()) or {}
    if not isinstance(present, dict) or any(not isinstance(present.get(name) or [], list) for name in _LISTS):
        raise ValueError(f"{path}: it is no kubeconfig file")
    return present


def _merged(present: Mapping[str, Any], added: Mapping[str, Any]) -> dict[str, Any]:
    lists = {name: _with(present.get(name) or [], added[name]) for name in _LISTS}
    return {"apiVersion": "v1", "kind": "Config", **present, **lists, "current-context": added["current-context"]}


def _with(present: Sequence[Mapping[str, Any]], added: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    names = {one["name"] for one in added}
    return [*(one for one in present if one.get("name") not in names), *added]


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    lock = path.with_name(f"{path.name}.lock")
    try:
        lock.open("x").close()
    except FileExistsError as exc:
        raise ValueError(f"{lock} exists: another program changes {path}; remove the lock if none does") from exc
    try:
        yield
    finally:
        lock.unlink()


def _encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()
