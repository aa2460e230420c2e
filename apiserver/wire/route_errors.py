"""route_errors: the answers to requests that fit no route: an unknown path, method or format of a path.

Decided before anything of the request is read; the registry knows no routes.
"""

from collections.abc import Iterable

from aio_apiserver.registry.base.errors import Details, StatusError


class RouteNotFound(StatusError):
    """The group, version, resource or subresource is not served."""

    code = 404
    reason = "NotFound"

    def __init__(self) -> None:
        super().__init__("the server could not find the requested resource", details=Details())


class RouteMethodNotAllowed(StatusError):
    """The path is served, but not with this HTTP method."""

    code = 405
    reason = "MethodNotAllowed"

    def __init__(self) -> None:
        super().__init__("the server does not allow this method on the requested resource", details=Details())


class RouteNotAcceptable(StatusError):
    """None of the media types that the client accepts is one that the path can answer with at all."""

    code = 406
    reason = "NotAcceptable"

    def __init__(self, media_types: Iterable[str]) -> None:
        representations = ", ".join(media_types)
        message = f"406: Not Acceptable\n\nAvailable representations: {representations}"
        super().__init__(message, details=Details())


class RouteUnsupportedMediaType(StatusError):
    """The body is in a format that the path does not read at all."""

    code = 415
    reason = "UnsupportedMediaType"

    def __init__(self) -> None:
        super().__init__("415: Unsupported Media Type", details=Details())
