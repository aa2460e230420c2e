"""Custom: the OpenAPI routes and definitions of custom resources.

Pure. The server passes one CustomGroupVersion for each group version; schemas are read when the document is written.
Must hold: two group versions with equal keys have equal documents.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence

from msgspec import Struct

from aio_apiserver.registry.base.names import GroupVersionKind
from aio_apiserver.registry.machinery import media_types
from aio_apiserver.registry.machinery.openapi import custom_schemas, parameters
from aio_apiserver.registry.machinery.openapi.builtin_routes import article
from aio_apiserver.registry.machinery.openapi.custom_schemas import CustomShape
from aio_apiserver.registry.machinery.openapi.routes import (
    DELETE_OPTIONS,
    PATCH,
    STATUS,
    DocumentInfo,
    OwnSchemas,
    Parameter,
    Route,
    answers,
)
from aio_apiserver.registry.machinery.schema.model import Schema

_HEAD = DocumentInfo("Kubernetes CRD Swagger", "v0.1.0", has_security=False)
_MEDIA_TYPES = (media_types.JSON, media_types.YAML)
_SCALE = "io.k8s.api.autoscaling.v1.Scale"


class CustomResource(Struct, frozen=True, kw_only=True):
    """A custom resource in one version.

    schema: reads its structural schema; None allows any object. digest: changes with everything that the document
    shows.
    """

    plural: str
    kind: str
    list_kind: str
    is_namespaced: bool
    schema: Callable[[], Schema | None]
    digest: Hashable
    has_status: bool = False
    has_scale: bool = False
    preserves_unknown_fields: bool = False
    selectable_fields: Sequence[str] = ()


class CustomGroupVersion(Struct, frozen=True, eq=False):
    """The source of a group version of custom resources."""

    group: str
    version: str
    minor: str
    resources: Sequence[CustomResource]

    @property
    def path(self) -> str:
        return f"apis/{self.group}/{self.version}"

    @property
    def key(self) -> Hashable:
        return self.path, *(resource.digest for resource in self.resources)

    @property
    def head(self) -> DocumentInfo:
        return _HEAD

    @property
    def scope(self) -> None:
        return None

    def routes(self) -> Sequence[Route]:
        """The routes of all resources."""
        routes = [route for resource in self.resources for route in _Writer(self, resource).routes()]
        return parameters.at(routes, self.minor)

    def schemas(self) -> OwnSchemas:
        """The definitions of all resources and lists."""
        found = [custom_schemas.of(self._shape(resource)) for resource in self.resources]
        return OwnSchemas(
            {name: schema for own in found for name, schema in own.version2.items()},
            {name: schema for own in found for name, schema in own.version3.items()},
        )

    def _shape(self, resource: CustomResource) -> CustomShape:
        return CustomShape(
            kind=GroupVersionKind(self.group, self.version, resource.kind),
            list_kind=resource.list_kind,
            plural=resource.plural,
            schema=resource.schema(),
            preserves_unknown_fields=resource.preserves_unknown_fields,
            selectable_fields=resource.selectable_fields,
        )


class _Action(Struct, frozen=True):
    """The words of one method: its verb and the beginning of its operation id."""

    method: str
    action: str
    verb: str
    words: str


_LIST = _Action("get", "list", "list", "list objects of kind")
_CREATE = _Action("post", "post", "create", "create")
_DELETE_ALL = _Action("delete", "deletecollection", "deletecollection", "delete collection of")
_GET = _Action("get", "get", "read", "read the specified")
_UPDATE = _Action("put", "put", "replace", "replace the specified")
_DELETE = _Action("delete", "delete", "delete", "delete")
_PATCH = _Action("patch", "patch", "patch", "partially update the specified")

_CODES = {"post": (200, 202, 201), "delete": (200, 202), "put": (200, 201)}
_TAKES_ARTICLE = (_CREATE, _DELETE)


class _Writer(Struct, frozen=True):
    """Writes the routes of one custom resource."""

    group_version: CustomGroupVersion
    resource: CustomResource

    def routes(self) -> Iterator[Route]:
        """The routes in kube-apiserver's order; watch is an option of list."""
        base = f"/{self.group_version.path}/"
        sample, items = self._named(self.resource.kind), self._named(self.resource.list_kind)
        root = base + self.resource.plural
        if self.resource.is_namespaced:
            yield self._route(_LIST, root, items, operation=f"list{self.resource.kind}ForAllNamespaces")
            root = f"{base}namespaces/{{namespace}}/{self.resource.plural}"
        yield self._route(_LIST, root, items)
        yield self._route(_CREATE, root, sample, body=sample)
        yield self._route(_DELETE_ALL, root, STATUS)
        yield from self._item(f"{root}/{{name}}", sample)
        yield self._route(_DELETE, f"{root}/{{name}}", STATUS, body=DELETE_OPTIONS, needs_body=False)
        if self.resource.has_status:
            yield from self._item(f"{root}/{{name}}/status", sample, subresource="status")
        if self.resource.has_scale:
            yield from self._item(f"{root}/{{name}}/scale", _SCALE, subresource="scale")

    def _item(self, path: str, definition: str, *, subresource: str = "") -> Iterator[Route]:
        yield self._route(_GET, path, definition, subresource=subresource)
        yield self._route(_UPDATE, path, definition, subresource=subresource, body=definition)
        yield self._route(_PATCH, path, definition, subresource=subresource, body=PATCH)

    def _route(
        self,
        action: _Action,
        path: str,
        definition: str,
        *,
        subresource: str = "",
        operation: str = "",
        body: str = "",
        needs_body: bool = True,
    ) -> Route:
        kind = self.resource.kind
        scope = "Namespaced" if self.resource.is_namespaced else ""
        return Route(
            method=action.method,
            path=path,
            operation=operation or f"{action.verb}{scope}{kind}{subresource.capitalize()}",
            description=_description(action, kind, subresource),
            action=action.action,
            kind=GroupVersionKind(self.group_version.group, self.group_version.version, kind),
            consumes=media_types.CUSTOM_PATCHES if action is _PATCH else _MEDIA_TYPES,
            produces=_MEDIA_TYPES,
            parameters=(parameters.PRETTY, *_options(action), *_in_path(path, kind)),
            responses=answers(definition, *_CODES.get(action.action, (200,))),
            body=body,
            needs_body=needs_body,
        )

    def _named(self, kind: str) -> str:
        return custom_schemas.name_of(GroupVersionKind(self.group_version.group, self.group_version.version, kind))


def _description(action: _Action, kind: str, subresource: str) -> str:
    noun = article(kind) if action in _TAKES_ARTICLE else kind
    if not subresource:
        return f"{action.words} {noun}"
    verb, _, rest = action.words.partition(" the specified")
    return f"{verb} {subresource} of the specified{rest} {noun}"


def _options(action: _Action) -> Sequence[Parameter]:
    if action is _GET:
        return [one for one in parameters.options("list") if one.name == "resourceVersion"]
    takers = {"list": "list", "deletecollection": "list", "post": "create", "put": "update"}
    return parameters.options(takers.get(action.action, action.action))


def _in_path(path: str, kind: str) -> list[Parameter]:
    found = [parameters.NAMESPACE] if "{namespace}" in path else []
    return [*found, parameters.name_of(kind)] if "{name}" in path else found
