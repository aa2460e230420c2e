"""The sources that are no group version: /api, /apis, each group, and what clients find outside of the APIs."""

from collections.abc import Sequence

from msgspec import Struct

from aio_apiserver.registry.machinery.openapi.builtin import TITLE, discovery_route
from aio_apiserver.registry.machinery.openapi.routes import Head, OwnSchemas, Response, Route, answers

_JSON = ("application/json",)


class Root(Struct, frozen=True, eq=False):
    """One path that is told of by itself."""

    path: str
    minor: str
    route: Route

    @property
    def key(self) -> str:
        return self.path

    @property
    def head(self) -> Head:
        return Head(TITLE, self.minor)

    @property
    def scope(self) -> None:
        return None

    def routes(self) -> Sequence[Route]:
        return [self.route]

    def schemas(self) -> OwnSchemas:
        return OwnSchemas()


def legacy(minor: str) -> Root:
    """The versions of the core group."""
    return Root("api", minor, discovery_route("/api/", "getAPIVersions", "get available API versions", "APIVersions"))


def groups(minor: str) -> Root:
    """The other groups."""
    return Root(
        "apis", minor, discovery_route("/apis/", "getAPIVersions", "get available API versions", "APIGroupList")
    )


def group(name: str, minor: str) -> Root:
    """The versions of a group."""
    return Root(
        f"apis/{name}",
        minor,
        discovery_route(f"/apis/{name}/", "getAPIGroup", "get information of a group", "APIGroup"),
    )


def version(minor: str) -> Root:
    """/version."""
    route = Route(
        method="get",
        path="/version/",
        operation="getCodeVersion",
        description="get the version information for this server",
        consumes=_JSON,
        produces=_JSON,
        responses=answers("io.k8s.apimachinery.pkg.version.Info", 200),
    )
    return Root("version", minor, route)


def issuer(minor: str) -> Sequence[Root]:
    """What verifiers of service account tokens read."""
    configuration = _issuer_route(
        "/.well-known/openid-configuration/",
        "getServiceAccountIssuerOpenIDConfiguration",
        "get service account issuer OpenID configuration, also known as the 'OIDC discovery doc'",
        "application/json",
    )
    keys = _issuer_route(
        "/openid/v1/jwks/",
        "getServiceAccountIssuerOpenIDKeyset",
        "get service account issuer OpenID JSON Web Key Set (contains public token verification keys)",
        "application/jwk-set+json",
    )
    return [Root(one.path.strip("/"), minor, one) for one in (configuration, keys)]


def _issuer_route(path: str, operation: str, description: str, media_type: str) -> Route:
    return Route(
        method="get",
        path=path,
        operation=operation,
        description=description,
        consumes=(),
        produces=(media_type,),
        responses={200: Response("OK")},
    )
