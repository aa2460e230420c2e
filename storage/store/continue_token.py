"""Continue token: the position and revision of the next page of a list, in kube-apiserver's format.

A token is base64url without padding of {"v":"meta.k8s.io/v1","rv":N,"start":"key\\u0000"}. `start` is relative to the
prefix of the list; rv -1 means the present state. Pure. Clients may use tokens of another server, and may forge them.

Must hold: a token cannot leave the prefix of its list. A malformed token raises InvalidContinue with kube-apiserver's
message.
"""

import base64
import re
from typing import Any

import orjson
from msgspec import Struct

from aio_apiserver.storage.errors import InvalidContinue

PRESENT = -1
"""The rv of a token that continues with the present state, after the revision of the list was compacted."""

_VERSION = "meta.k8s.io/v1"
_NOT_BASE64 = re.compile(rb"[^A-Za-z0-9_-]")
_STARTS_OF_VALUES = b'{["-0123456789tfn'


class ContinueToken(Struct, frozen=True):
    """A decoded token: continue at `start` (relative to the list's prefix) at `revision`."""

    start: str
    revision: int

    @property
    def is_present(self) -> bool:
        """Whether the rest shows the present state, inconsistent with the pages before."""
        return self.revision < 0


def after(key: str, revision: int) -> str:
    """The token that continues after `key`."""
    return encode(ContinueToken(f"{key}\0", revision))


def encode(token: ContinueToken) -> str:
    """The text of a token."""
    content = orjson.dumps({"v": _VERSION, "rv": token.revision, "start": token.start})
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode("ascii")


def decode(text: str) -> ContinueToken:
    """Decode a client's token. Raises InvalidContinue."""
    content = _object(_from_base64(text))
    version, revision, start = _text(content, "v"), _whole_number(content, "rv"), _text(content, "start")
    if version != _VERSION:
        raise _invalid(f"server does not recognize this encoded version {version}")
    if revision == 0:
        raise _invalid(f"incorrect encoded start resourceVersion (version {_VERSION})")
    if not start:
        raise _invalid(f"encoded start key empty (version {_VERSION})")
    if not _stays_below(start):
        raise _invalid(start)
    return ContinueToken(start.removeprefix("/"), revision)


def _invalid(reason: str) -> InvalidContinue:
    return InvalidContinue(f"invalid continue token: continue key is not valid: {reason}")


def _stays_below(start: str) -> bool:
    """Whether the key, appended to a prefix, is a clean path below it."""
    path = start.removeprefix("/")
    return not path or all(part not in ("", ".", "..") for part in path.split("/"))


def _from_base64(text: str) -> bytes:
    data = text.encode("utf-8", "surrogatepass")
    stray = _NOT_BASE64.search(data)
    if stray is not None:
        raise _invalid(f"illegal base64 data at input byte {stray.start()}")
    if len(data) % 4 == 1:
        raise _invalid(f"illegal base64 data at input byte {len(data) - 1}")
    return base64.urlsafe_b64decode(data + b"=" * (-len(data) % 4))


def _object(data: bytes) -> dict[str, Any]:
    stripped = data.lstrip(b" \t\r\n")
    if not stripped:
        raise _invalid("unexpected end of JSON input")
    if stripped[0] not in _STARTS_OF_VALUES:
        raise _invalid(f"invalid character {chr(stripped[0])!r} looking for beginning of value")
    try:
        content = orjson.loads(stripped)
    except ValueError as exc:
        raise _invalid(str(exc)) from exc
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise _invalid(f"json: cannot unmarshal {_KINDS[type(content)]} into Go value of type storage.continueToken")
    return content


def _text(content: dict[str, Any], name: str) -> str:
    value = content.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise _mismatch(value, name, "string")
    return value


def _whole_number(content: dict[str, Any], name: str) -> int:
    value = content.get(name)
    if value is None:
        return 0
    if not isinstance(value, int) or isinstance(value, bool) or not -(2**63) <= value < 2**63:
        raise _mismatch(value, name, "int64")
    return value


def _mismatch(value: Any, name: str, wanted: str) -> InvalidContinue:
    kind = _KINDS[type(value)]
    found = f"number {value}" if kind == "number" and wanted == "int64" else kind
    return _invalid(f"json: cannot unmarshal {found} into Go struct field continueToken.{name} of type {wanted}")


_KINDS = {bool: "bool", int: "number", float: "number", str: "string", list: "array", dict: "object"}
"""JSON types in Go's messages."""
