"""Routes: what can be asked of a path, told without the words of either version of OpenAPI.

A source (built-in resources, custom ones, what is neither) lists its routes; swagger.py and version3.py write them.
Types are named by their definitions. Must hold: a route says all that both versions say.
"""

from collections.abc import Hashable, Mapping, Sequence
from typing import Protocol

from msgspec import Struct, field

from aio_apiserver.registry.base.names import GroupVersionKind
from aio_apiserver.registry.machinery.schema.definitions import Schema

ANYTHING = ("*/*",)

META = "io.k8s.apimachinery.pkg.apis.meta.v1"
DELETE_OPTIONS = f"{META}.DeleteOptions"
PATCH = f"{META}.Patch"
STATUS = f"{META}.Status"
WATCH_EVENT = f"{META}.WatchEvent"


class Parameter(Struct, frozen=True):
    """A part of the path, or an option of the query."""

    name: str
    type: str
    description: str
    is_in_path: bool = False


class Response(Struct, frozen=True):
    """An answer; without a definition it is text."""

    description: str
    definition: str = ""


class Route(Struct, frozen=True, kw_only=True):
    """One method of one path. `kind` and `action` become the extensions by which clients find operations.

    operation: the id without group and version. body: a definition; empty when nothing is read.
    """

    method: str
    path: str
    operation: str
    description: str
    produces: Sequence[str]
    responses: Mapping[int, Response]
    consumes: Sequence[str] = ANYTHING
    parameters: Sequence[Parameter] = ()
    body: str = ""
    needs_body: bool = True
    action: str = ""
    kind: GroupVersionKind | None = None


class OwnSchemas(Struct, frozen=True):
    """The definitions that a source brings itself, in the form of each version."""

    version2: Mapping[str, Schema] = field(default_factory=dict)
    version3: Mapping[str, Schema] = field(default_factory=dict)


class Head(Struct, frozen=True):
    """What a version 3 document says of itself."""

    title: str
    version: str
    has_security: bool = True


class Source(Protocol):
    """What one version 3 document tells of. Asked when the document is written, never before.

    path: below /openapi/v3. key: the same for the same document. scope: the group and version whose kinds WatchEvent
    and DeleteOptions name; None names those of all.
    """

    @property
    def path(self) -> str: ...

    @property
    def key(self) -> Hashable: ...

    @property
    def head(self) -> Head: ...

    @property
    def scope(self) -> tuple[str, str] | None: ...

    def routes(self) -> Sequence[Route]: ...

    def schemas(self) -> OwnSchemas: ...


def answers(definition: str, *codes: int) -> Mapping[int, Response]:
    """Responses of one type."""
    return {code: Response(_WORDS[code], definition) for code in codes}


_WORDS = {200: "OK", 201: "Created", 202: "Accepted"}
