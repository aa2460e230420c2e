"""Routes: the methods of a path, independent of the OpenAPI version.

A source (built-in, custom or root) lists its routes; swagger.py and version3.py write them. Types are named by their
definitions. Must hold: a route contains what both versions show.
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
    """A path parameter or a query parameter."""

    name: str
    type: str
    description: str
    is_in_path: bool = False


class Response(Struct, frozen=True):
    """A response; without a definition it is text."""

    description: str
    definition: str = ""


class Route(Struct, frozen=True, kw_only=True):
    """One method of one path. Clients find operations by the extensions `kind` and `action`.

    operation: the id without group and version. body: a definition; empty when the request has no body.
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
    """The definitions that a source adds, for each version."""

    version2: Mapping[str, Schema] = field(default_factory=dict)
    version3: Mapping[str, Schema] = field(default_factory=dict)


class DocumentInfo(Struct, frozen=True):
    """The `info` of a version 3 document."""

    title: str
    version: str
    has_security: bool = True


class DocumentSource(Protocol):
    """The source of one version 3 document. It is asked when the document is written.

    path: below /openapi/v3. key: equal for equal documents. scope: the group version whose kinds WatchEvent and
    DeleteOptions list; None lists those of client-go.
    """

    @property
    def path(self) -> str: ...

    @property
    def key(self) -> Hashable: ...

    @property
    def head(self) -> DocumentInfo: ...

    @property
    def scope(self) -> tuple[str, str] | None: ...

    def routes(self) -> Sequence[Route]: ...

    def schemas(self) -> OwnSchemas: ...


def answers(definition: str, *codes: int) -> Mapping[int, Response]:
    """Responses with one definition."""
    return {code: Response(_WORDS[code], definition) for code in codes}


_WORDS = {200: "OK", 201: "Created", 202: "Accepted"}
