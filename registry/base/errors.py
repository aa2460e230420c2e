"""Status errors: what a request can end in, one class a reason, with the body that clients get.

The registry's vocabulary of errors. Storage's errors are translated into these by the generic Store; apiserver writes
`status()` and a Retry-After header from `retry_after_seconds`, and knows nothing else of them. No HTTP here: `code` is
a field of Status.

Must hold: `status()` has the fields in the order in which kube-apiserver prints them, and leaves out what is empty,
`metadata` and (where the reason has it) `details` excepted.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.base.names import GroupKind, GroupResource


class Cause(Struct, frozen=True):
    """One of the things that are wrong. `reason` is a CauseType, `field` a path, both may be empty."""

    reason: str
    message: str
    field: str = ""

    def __str__(self) -> str:
        return f"{self.field}: {self.message}"

    def as_dict(self) -> dict[str, str]:
        fields = {"reason": self.reason, "message": self.message, "field": self.field}
        return {name: value for name, value in fields.items() if value}


class Details(Struct, frozen=True, kw_only=True):
    """What the error is about. `kind` holds the resource for most reasons and the kind for Invalid."""

    name: str = ""
    group: str = ""
    kind: str = ""
    uid: str = ""
    causes: Sequence[Cause] = ()
    retry_after_seconds: int = 0

    def as_dict(self) -> dict[str, Any]:
        fields = {
            "name": self.name,
            "group": self.group,
            "kind": self.kind,
            "uid": self.uid,
            "causes": [cause.as_dict() for cause in self.causes],
            "retryAfterSeconds": self.retry_after_seconds,
        }
        return {name: value for name, value in fields.items() if value}


class StatusError(Exception):
    """A failure with a Status of its own; the bare class is kube-apiserver's 500 without a reason."""

    code: int = 500
    reason: str = ""

    def __init__(self, message: str, *, details: Details | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.details = details

    @property
    def retry_after_seconds(self) -> int:
        """After how long a client may ask again; 0 says nothing about it."""
        return self.details.retry_after_seconds if self.details else 0

    def status(self) -> dict[str, Any]:
        """The body of the answer."""
        body: dict[str, Any] = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure"}
        if self.message:
            body["message"] = self.message
        if self.reason:
            body["reason"] = self.reason
        if self.details is not None:
            body["details"] = self.details.as_dict()
        body["code"] = self.code
        return body


class BadRequest(StatusError):
    """The request has no meaning."""

    code = 400
    reason = "BadRequest"


class Unauthorized(StatusError):
    """The credentials are wrong, or there are none where they are needed."""

    code = 401
    reason = "Unauthorized"

    def __init__(self, message: str = "Unauthorized") -> None:
        super().__init__(message)


class Forbidden(StatusError):
    """The user may not do this, or an admission rule says no. Without a resource it is about a path."""

    code = 403
    reason = "Forbidden"

    def __init__(self, resource: GroupResource | None, name: str, *, why: str, causes: Sequence[Cause] = ()) -> None:
        subject = f"{_subject(resource, name)} is forbidden" if resource else "forbidden"
        super().__init__(f"{subject}: {why}", details=_details(resource, name, causes=causes))


class NotFound(StatusError):
    """The object does not exist."""

    code = 404
    reason = "NotFound"

    def __init__(self, resource: GroupResource, name: str) -> None:
        super().__init__(f"{resource} {quote(name)} not found", details=_details(resource, name))


class RouteNotFound(StatusError):
    """The group, version, resource or subresource is not served."""

    code = 404
    reason = "NotFound"

    def __init__(self) -> None:
        super().__init__("the server could not find the requested resource", details=Details())


class MethodNotSupported(StatusError):
    """The resource is served, but not with this verb."""

    code = 405
    reason = "MethodNotAllowed"

    def __init__(self, resource: GroupResource, action: str) -> None:
        message = f"{action} is not supported on resources of kind {quote(str(resource))}"
        super().__init__(message, details=_details(resource, ""))


class RouteMethodNotAllowed(StatusError):
    """The path is served, but not with this HTTP method."""

    code = 405
    reason = "MethodNotAllowed"

    def __init__(self) -> None:
        super().__init__("the server does not allow this method on the requested resource", details=Details())


class NotAcceptable(StatusError):
    """None of the media types that the client accepts can be written for this answer."""

    code = 406
    reason = "NotAcceptable"

    def __init__(self, media_types: Iterable[str]) -> None:
        super().__init__(f"only the following media types are accepted: {', '.join(media_types)}")


class NotTransformable(StatusError):
    """What was found cannot be turned into what the client accepts."""

    code = 406
    reason = "NotAcceptable"


class RouteNotAcceptable(StatusError):
    """None of the media types that the client accepts is one that the path can answer with at all."""

    code = 406
    reason = "NotAcceptable"

    def __init__(self, media_types: Iterable[str]) -> None:
        representations = ", ".join(media_types)
        message = f"406: Not Acceptable\n\nAvailable representations: {representations}"
        super().__init__(message, details=Details())


class AlreadyExists(StatusError):
    """A create met an existing object."""

    code = 409
    reason = "AlreadyExists"

    def __init__(self, resource: GroupResource, name: str) -> None:
        super().__init__(f"{resource} {quote(name)} already exists", details=_details(resource, name))


class GenerateNameConflict(StatusError):
    """Every name that was made from generateName is taken."""

    code = 409
    reason = "AlreadyExists"

    def __init__(self, resource: GroupResource, name: str, *, retry_after_seconds: int = 1) -> None:
        exists = f"{resource} {quote(name)} already exists"
        super().__init__(
            f"{exists}, the server was not able to generate a unique name for the object",
            details=_details(resource, name, retry_after_seconds=retry_after_seconds),
        )


class Conflict(StatusError):
    """The object is not in the state that the request was made for."""

    code = 409
    reason = "Conflict"

    def __init__(self, resource: GroupResource, name: str, *, why: str, causes: Sequence[Cause] = ()) -> None:
        message = f"Operation cannot be fulfilled on {resource} {quote(name)}: {why}"
        super().__init__(message, details=_details(resource, name, causes=causes))


class ApplyConflict(StatusError):
    """An apply would take fields from other managers."""

    code = 409
    reason = "Conflict"

    def __init__(self, message: str, causes: Sequence[Cause]) -> None:
        super().__init__(message, details=Details(causes=causes))


class Expired(StatusError):
    """The resource version or continue token is older than what is kept; `continue_token` resumes the list anyhow."""

    code = 410
    reason = "Expired"

    def __init__(self, message: str, *, continue_token: str = "") -> None:
        super().__init__(message)
        self.continue_token = continue_token

    def status(self) -> dict[str, Any]:
        body = super().status()
        if self.continue_token:
            body["metadata"] = {"continue": self.continue_token}
        return body


class RequestEntityTooLarge(StatusError):
    """The request is larger than what is read."""

    code = 413
    reason = "RequestEntityTooLarge"

    def __init__(self, why: str) -> None:
        super().__init__(f"Request entity too large: {why}")


class UnsupportedMediaType(StatusError):
    """The body is in a format that this resource does not read."""

    code = 415
    reason = "UnsupportedMediaType"

    def __init__(self, media_types: Iterable[str]) -> None:
        accepted = ", ".join(media_types)
        super().__init__(f"the body of the request was in an unknown format - accepted media types include: {accepted}")


class RouteUnsupportedMediaType(StatusError):
    """The body is in a format that the path does not read at all."""

    code = 415
    reason = "UnsupportedMediaType"

    def __init__(self) -> None:
        super().__init__("415: Unsupported Media Type", details=Details())


class Invalid(StatusError):
    """The object breaks rules: all that were found, as causes. The message names each only once."""

    code = 422
    reason = "Invalid"

    def __init__(self, kind: GroupKind, name: str, causes: Sequence[Cause]) -> None:
        message = f"{kind} {quote(name)} is invalid"
        if causes:
            message = f"{message}: {aggregate(map(str, causes))}"
        super().__init__(message, details=Details(name=name, group=kind.group, kind=kind.kind, causes=causes))


class Unprocessable(StatusError):
    """The request cannot be carried out, and nothing more can be said: a JSON Patch that does not apply."""

    code = 422
    reason = "Invalid"

    def __init__(self) -> None:
        super().__init__("the server rejected our request due to an error in our request", details=Details())


class TooManyRequests(StatusError):
    """The server or one of its parts is too busy; ask again later."""

    code = 429
    reason = "TooManyRequests"

    def __init__(self, message: str, *, retry_after_seconds: int = 1, causes: Sequence[Cause] = ()) -> None:
        super().__init__(message, details=Details(causes=causes, retry_after_seconds=retry_after_seconds))


class ServerResponse(StatusError):
    """What another server has answered, of which no more is known than its status and its words."""

    def __init__(self, code: int, resource: GroupResource, name: str, text: str) -> None:
        reason, message = _OF_SERVERS.get(code, ("", ""))
        if not reason and code >= 500:
            reason = "InternalError"
            message = f"an error on the server ({quote(text)}) has prevented the request from succeeding"
        unknown = f"the server responded with the status code {code} but did not return more information"
        message = message or text or unknown
        super().__init__(f"{message} ( {resource} {name})", details=_details(resource, name))
        self.code = code
        self.reason = reason


_OF_SERVERS: Mapping[int, tuple[str, str]] = {
    401: ("Unauthorized", "the server has asked for the client to provide credentials"),
    403: ("Forbidden", ""),
    404: ("NotFound", "the server could not find the requested resource"),
    405: ("MethodNotAllowed", "the server does not allow this method on the requested resource"),
    409: ("Conflict", "the server reported a conflict"),
    422: ("Invalid", "the server rejected our request due to an error in our request"),
    429: ("TooManyRequests", "the server has received too many requests and has asked us to try again later"),
    503: ("ServiceUnavailable", "the server is currently unable to handle the request"),
    504: (
        "Timeout",
        "the server was unable to return a response in the time allotted, but may still be processing the request",
    ),
}
"""By status: the reason and the words; without words those of the other server count."""


class InternalError(StatusError):
    """Something broke that no request should break."""

    code = 500
    reason = "InternalError"

    def __init__(self, why: str) -> None:
        super().__init__(f"Internal error occurred: {why}", details=Details(causes=(Cause("", why),)))


class ServerTimeout(StatusError):
    """The operation could not be finished now for a passing reason, and had no effect."""

    code = 500
    reason = "ServerTimeout"

    def __init__(self, resource: GroupResource, operation: str, *, retry_after_seconds: int = 0) -> None:
        super().__init__(
            f"The {operation} operation against {resource} could not be completed at this time, please try again.",
            details=_details(resource, operation, retry_after_seconds=retry_after_seconds),
        )


class ServiceUnavailable(StatusError):
    """What the request needs cannot be reached now."""

    code = 503
    reason = "ServiceUnavailable"


class Timeout(StatusError):
    """The request did not finish in time; it may still take effect."""

    code = 504
    reason = "Timeout"

    def __init__(self, why: str, *, retry_after_seconds: int = 0, causes: Sequence[Cause] = ()) -> None:
        details = Details(causes=causes, retry_after_seconds=retry_after_seconds)
        super().__init__(f"Timeout: {why}", details=details)


class TooLargeResourceVersion(Timeout):
    """The store has not reached the resource version that was asked for."""

    def __init__(self, wanted: int, current: int, *, retry_after_seconds: int = 1) -> None:
        super().__init__(
            f"Too large resource version: {wanted}, current: {current}",
            retry_after_seconds=retry_after_seconds,
            causes=(Cause("ResourceVersionTooLarge", "Too large resource version"),),
        )


def _details(
    resource: GroupResource | None, name: str, *, causes: Sequence[Cause] = (), retry_after_seconds: int = 0
) -> Details:
    return Details(
        name=name,
        group=resource.group if resource else "",
        kind=resource.resource if resource else "",
        causes=causes,
        retry_after_seconds=retry_after_seconds,
    )


def _subject(resource: GroupResource, name: str) -> str:
    return f"{resource} {quote(name)}" if name else str(resource)


def aggregate(messages: Iterable[str]) -> str:
    """Several messages in one: each once, in brackets if there are more."""
    distinct = list(dict.fromkeys(messages))
    return distinct[0] if len(distinct) == 1 else f"[{', '.join(distinct)}]"
