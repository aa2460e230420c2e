"""Recorded request: one recorded request, and its line of text.

    create pods default/web-0
    patch deployments.apps/status default/web
    list nodes
    get /version

Must hold: a line has the verb, the resource and the name. It does not contain API versions and query parameters.
"""

from collections.abc import Mapping
from sys import getsizeof
from typing import Any

import orjson
from msgspec import Struct

from aio_apiserver.base.worker_thread import LONG
from aio_apiserver.registry.machinery import media_types
from aio_apiserver.registry.machinery.serializers import yaml
from aio_apiserver.testing.bench.request_selectors import resource_name

_BYTES = 600
"""The memory of a request without its texts and its body."""
_TEXTS = (
    *("method", "path", "verb", "group", "resource", "subresource", "namespace", "name", "user", "user_agent"),
    "content_type",
)
_ANY_SUFFIX = "?????"
"""The pattern for the suffix that the server adds to a `generateName`."""


class RecordedRequest(Struct):
    """One request. `status` is 0 while it has no response: it runs, or its connection broke.

    name: for a create, the name in the body; with `generateName`, a pattern that matches the generated name.
    """

    number: int
    at: float
    method: str
    path: str
    verb: str
    group: str
    resource: str
    subresource: str
    namespace: str
    name: str
    user: str
    user_agent: str
    content_type: str = ""
    status: int = 0
    fault: str = ""
    data: bytes = b""
    """The raw body. Empty when it was not read, or was dropped from the record."""

    def __str__(self) -> str:
        fault = f" [{self.fault}]" if self.fault else ""
        return f"{self.number:5} {self.status or '---'} {self.method} {self.path} ({self.user_agent}){fault}"

    def __repr__(self) -> str:
        return f"<{self.line}: {self.status or 'no answer'}>"

    @property
    def line(self) -> str:
        """The request as a line."""
        if not self.resource:
            return f"{self.verb} {self.path.partition('?')[0]}"
        place = f"{self.namespace}/{self.name}" if self.namespace else self.name
        return f"{self.verb} {self.full_resource} {place}".rstrip()

    @property
    def full_resource(self) -> str:
        """The name by which tests select the resource: `deployments.apps/status`. Empty for other paths."""
        return resource_name(self.group, self.resource, self.subresource) if self.resource else ""

    @property
    def body(self) -> Any:
        """The decoded body: an object, a list of JSON patches, the options of a deletion. None without a body."""
        return _read(self.data, self.content_type) if self.data else None

    @property
    def size(self) -> int:
        """The bytes in memory without the body."""
        return _BYTES + sum(getsizeof(getattr(self, name)) for name in _TEXTS)

    def answered(self, status: int, data: bytes) -> None:
        """Record the response. The name of an object is read from a body that is not long: this runs on the event
        loop.
        """
        self.status, self.data = status, data
        if self.verb == "create" and not self.name and len(data) < LONG and isinstance(body := self.body, dict):
            self.name = _name_in(body)

    def as_json(self) -> Mapping[str, Any]:
        """The request as JSON."""
        facts = {name: getattr(self, name) for name in self.__struct_fields__ if name != "data"}
        return {**facts, "line": self.line, "body": self.body}


def _name_in(body: Mapping[str, Any]) -> str:
    metadata = body.get("metadata")
    if not isinstance(metadata, dict):
        return ""
    prefix = metadata.get("generateName")
    return str(metadata.get("name") or (f"{prefix}{_ANY_SUFFIX}" if prefix else ""))


def _read(data: bytes, content_type: str) -> Any:
    """The decoded value of a body, or its text when it cannot be decoded."""
    try:
        return _READERS.get(content_type.partition(";")[0].strip(), orjson.loads)(data)
    except ValueError:
        return data.decode(errors="replace")


def _from_yaml(data: bytes) -> Any:
    return yaml.read(data).value


def _from_protobuf(data: bytes) -> Any:
    from aio_apiserver.registry.base.names import GroupVersionKind
    from aio_apiserver.registry.machinery import schema
    from aio_apiserver.registry.machinery.serializers import protobuf

    return _without_unset(protobuf.to_value(data, schema.builtin(), GroupVersionKind("", "v1", "")))


def _without_unset(value: Any) -> Any:
    """A value without the empty strings and parts that Go's encoder writes for unset fields."""
    if isinstance(value, dict):
        parts = {name: _without_unset(part) for name, part in value.items()}
        return {name: part for name, part in parts.items() if part not in ("", None, {}, [])}
    return [_without_unset(one) for one in value] if isinstance(value, list) else value


_READERS = {
    media_types.YAML: _from_yaml,
    "application/apply-patch+yaml": _from_yaml,
    media_types.PROTOBUF: _from_protobuf,
}
