"""Route errors: the Status of a request that fits no route: unknown path, method or media type.

They are decided before the body is read. The registry must not know them.
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
    """The path does not support this HTTP method."""

    code = 405
    reason = "MethodNotAllowed"

    def __init__(self) -> None:
        super().__init__("the server does not allow this method on the requested resource", details=Details())


class RouteNotAcceptable(StatusError):
    """The Accept header has no media type that the path supports."""

    code = 406
    reason = "NotAcceptable"

    def __init__(self, media_types: Iterable[str]) -> None:
        representations = ", ".join(media_types)
        message = f"406: Not Acceptable\n\nAvailable representations: {representations}"
        super().__init__(message, details=Details())


class RouteUnsupportedMediaType(StatusError):
    """The path does not support the media type of the body."""

    code = 415
    reason = "UnsupportedMediaType"

    def __init__(self) -> None:
        super().__init__("415: Unsupported Media Type", details=Details())
