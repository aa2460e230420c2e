"""Builtin routes: the OpenAPI routes of a built-in resource, from its verbs.

Pure. Must hold: a verb that the resource does not support has no route. Ids, descriptions and options are
kube-apiserver's.
"""

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from aio_apiserver.registry.base.names import GroupVersionKind
from aio_apiserver.registry.machinery import media_types
from aio_apiserver.registry.machinery.openapi import connections, parameters
from aio_apiserver.registry.machinery.openapi.routes import (
    DELETE_OPTIONS,
    PATCH,
    STATUS,
    WATCH_EVENT,
    Parameter,
    Response,
    Route,
    answers,
)

_LIST_WORDS = "deprecated: use the 'watch' parameter with a list operation instead"
_ITEM_WORDS = f"{_LIST_WORDS}, filtered to a single item with the 'fieldSelector' parameter."


class DocumentedResource(Struct, frozen=True, kw_only=True):
    """A resource at one path of a group version (`deployments`, `deployments/scale`).

    kind: the kind of the main resource. object_kind, definition: the type that this path reads and writes.
    """

    path: str
    kind: str
    is_namespaced: bool
    object_kind: GroupVersionKind
    definition: str
    verbs: frozenset[str]
    returns_deleted_object: bool = False

    @property
    def subresource(self) -> str:
        return self.path.partition("/")[2]


class _Place(Struct, frozen=True):
    """A path of a resource, its path parameters, and the words that it adds to operation ids."""

    path: str
    parameters: tuple[Parameter, ...]
    scope: str = ""
    suffix: str = ""


def routes_of(root: str, group: str, resource: DocumentedResource) -> list[Route]:
    """All routes of a resource below the root of a group version."""
    prefix = "namespaces/{namespace}/" if resource.is_namespaced else ""
    within = (parameters.NAMESPACE,) if resource.is_namespaced else ()
    scope = "Namespaced" if resource.is_namespaced else ""
    plural = resource.path.partition("/")[0]
    item_path = f"{prefix}{plural}/{{name}}" + (f"/{resource.subresource}" if resource.subresource else "")
    item = _Place(item_path, (*within, parameters.name_of(resource.object_kind.kind)), scope)
    whole = item if resource.subresource else _Place(f"{prefix}{plural}", within, scope)
    everywhere = _Place(plural, (), "", "ForAllNamespaces") if resource.is_namespaced else None
    writer = _Writer(root, resource, connections.READINGS.get((group, resource.path)))
    connection = connections.CONNECTIONS.get((group, resource.path))
    if connection is not None:
        return list(writer.connected(item, connection))
    return list(writer.routes(whole, item, everywhere))


class _Writer(Struct, frozen=True):
    """Writes the routes of one resource."""

    root: str
    resource: DocumentedResource
    reading: connections.Reading | None

    def routes(self, whole: _Place, item: _Place, everywhere: _Place | None) -> Iterator[Route]:
        """The routes of each verb, on the paths that support it."""
        on_whole = {"list": self._list, "create": self._create, "deletecollection": self._delete_collection}
        on_item = {"get": self._get, "update": self._update, "patch": self._patch, "delete": self._delete}
        verbs = self.resource.verbs
        for place, writers in ((whole, on_whole), (item, on_item)):
            yield from (write(place) for verb, write in writers.items() if verb in verbs)
        if "list" in verbs and everywhere is not None and not self.resource.subresource:
            yield self._list(everywhere)
        if verbs >= {"list", "watch"}:
            places = [whole] if everywhere is None else [whole, everywhere]
            yield from (self._watch_list(place) for place in places)
            yield self._watch(item)

    def connected(self, item: _Place, connection: connections.ConnectRoute) -> Iterator[Route]:
        """The routes of a subresource that connects (exec, proxy)."""
        below = _Place(f"{item.path}/{{path}}", (*item.parameters, parameters.PATH), item.scope, "WithPath")
        for place in (item, below) if connection.has_path else (item,):
            yield from (self._connect(place, method, connection) for method in connection.methods)

    def _list(self, place: _Place) -> Route:
        words = "list or watch" if "watch" in self.resource.verbs else "list"
        return self._route(
            "get",
            place,
            f"list{self._id(place)}",
            f"{words} objects of kind {self.resource.kind}",
            action="list",
            produces=media_types.OF_COLLECTIONS,
            options=parameters.options("list"),
            responses=answers(f"{self.resource.definition}List", 200),
        )

    def _create(self, place: _Place) -> Route:
        return self._route(
            "post",
            place,
            f"create{self._id(place)}",
            f"create {self._of}{article(self.resource.kind)}",
            action="post",
            options=parameters.options("create"),
            responses=answers(self.resource.definition, 200, 201, 202),
            body=self.resource.definition,
        )

    def _delete_collection(self, place: _Place) -> Route:
        options = parameters.options("delete") + parameters.options("list", without=("watch", "allowWatchBookmarks"))
        return self._route(
            "delete",
            place,
            f"deletecollection{self._id(place)}",
            f"delete collection of {self.resource.kind}",
            action="deletecollection",
            options=options,
            responses=answers(STATUS, 200),
            body=DELETE_OPTIONS,
            needs_body=False,
        )

    def _get(self, place: _Place) -> Route:
        reading = self.reading
        return self._route(
            "get",
            place,
            f"read{self._id(place)}",
            f"read {self._of}the specified {self.resource.kind}",
            action="get",
            produces=(*(reading.produces if reading else ()), *media_types.OF_OBJECTS),
            options=parameters.options(reading.options) if reading else (),
            responses=answers("" if reading else self.resource.definition, 200),
        )

    def _update(self, place: _Place) -> Route:
        return self._route(
            "put",
            place,
            f"replace{self._id(place)}",
            f"replace {self._of}the specified {self.resource.kind}",
            action="put",
            options=parameters.options("update"),
            responses=answers(self.resource.definition, 200, 201),
            body=self.resource.definition,
        )

    def _patch(self, place: _Place) -> Route:
        return self._route(
            "patch",
            place,
            f"patch{self._id(place)}",
            f"partially update {self._of}the specified {self.resource.kind}",
            action="patch",
            consumes=media_types.PATCHES,
            options=parameters.options("patch"),
            responses=answers(self.resource.definition, 200, 201),
            body=PATCH,
        )

    def _delete(self, place: _Place) -> Route:
        returned = self.resource.definition if self.resource.returns_deleted_object else STATUS
        return self._route(
            "delete",
            place,
            f"delete{self._id(place)}",
            f"delete {self._of}{article(self.resource.kind)}",
            action="delete",
            options=parameters.options("delete"),
            responses=answers(returned, 200, 202),
            body=DELETE_OPTIONS,
            needs_body=False,
        )

    def _watch_list(self, place: _Place) -> Route:
        words = f"watch individual changes to a list of {self.resource.kind}. {_LIST_WORDS}."
        return self._watching(place, f"watch{place.scope}{self.resource.kind}List{place.suffix}", words, "watchlist")

    def _watch(self, place: _Place) -> Route:
        words = f"watch changes to an object of kind {self.resource.kind}. {_ITEM_WORDS}"
        return self._watching(place, f"watch{self._id(place)}", words, "watch")

    def _watching(self, place: _Place, operation: str, words: str, action: str) -> Route:
        return self._route(
            "get",
            _Place(f"watch/{place.path}", place.parameters),
            operation,
            words,
            action=action,
            produces=media_types.OF_COLLECTIONS,
            options=parameters.options("list"),
            responses=answers(WATCH_EVENT, 200),
        )

    def _connect(self, place: _Place, method: str, connection: connections.ConnectRoute) -> Route:
        kind = replace(self.resource.object_kind, kind=connection.kind)
        return Route(
            method=method.lower(),
            path=f"{self.root}/{place.path}",
            operation=f"connect{method.capitalize()}{self._id(place)}",
            description=f"connect {method} requests to {self.resource.subresource} of {self.resource.kind}",
            action="connect",
            kind=kind,
            produces=("*/*",),
            parameters=(*connections.named(place.parameters, connection), *parameters.options(connection.kind)),
            responses={200: Response("OK")},
        )

    @property
    def _of(self) -> str:
        return f"{self.resource.subresource} of " if self.resource.subresource else ""

    def _id(self, place: _Place) -> str:
        return f"{place.scope}{self.resource.kind}{self.resource.subresource.capitalize()}{place.suffix}"

    def _route(
        self,
        method: str,
        place: _Place,
        operation: str,
        description: str,
        *,
        action: str,
        options: Sequence[Parameter],
        responses: Mapping[int, Response],
        produces: Sequence[str] = media_types.OF_OBJECTS,
        consumes: Sequence[str] = ("*/*",),
        body: str = "",
        needs_body: bool = True,
    ) -> Route:
        return Route(
            method=method,
            path=f"{self.root}/{place.path}",
            operation=operation,
            description=description,
            action=action,
            kind=self.resource.object_kind,
            consumes=consumes,
            produces=produces,
            parameters=(parameters.PRETTY, *options, *place.parameters),
            responses=responses,
            body=body,
            needs_body=needs_body,
        )


def article(noun: str) -> str:
    """A noun with its article; none for a plural."""
    if noun.endswith("s") and not noun.endswith("ss"):
        return noun
    return f"{'an' if noun[0].lower() in 'aeiou' else 'a'} {noun}"
