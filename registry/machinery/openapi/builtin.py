"""Builtin: the OpenAPI sources of built-in group versions."""

from collections.abc import Sequence

from msgspec import Struct

from aio_apiserver.registry.machinery import media_types
from aio_apiserver.registry.machinery.openapi import parameters
from aio_apiserver.registry.machinery.openapi.builtin_routes import DocumentedResource, routes_of
from aio_apiserver.registry.machinery.openapi.routes import META, DocumentInfo, OwnSchemas, Route, answers

TITLE = "Kubernetes"


class GroupVersion(Struct, frozen=True, eq=False):
    """The source of a built-in group version."""

    group: str
    version: str
    minor: str
    resources: Sequence[DocumentedResource]

    @property
    def path(self) -> str:
        return f"apis/{self.group}/{self.version}" if self.group else f"api/{self.version}"

    @property
    def key(self) -> str:
        return self.path

    @property
    def head(self) -> DocumentInfo:
        return DocumentInfo(TITLE, self.minor)

    @property
    def scope(self) -> tuple[str, str]:
        return self.group, self.version

    def routes(self) -> Sequence[Route]:
        """The routes of the group version and of its resources."""
        routes = [discovery_route(f"/{self.path}/", "getAPIResources", "get available resources", "APIResourceList")]
        for resource in self.resources:
            routes += routes_of(f"/{self.path}", self.group, resource)
        return parameters.at(routes, self.minor)

    def schemas(self) -> OwnSchemas:
        return OwnSchemas()


def discovery_route(path: str, operation: str, description: str, kind: str) -> Route:
    """A discovery route."""
    return Route(
        method="get",
        path=path,
        operation=operation,
        description=description,
        consumes=media_types.OF_OBJECTS,
        produces=media_types.OF_OBJECTS,
        responses=answers(f"{META}.{kind}", 200),
    )
