"""Errors: the failures that clients see as a Status, one class for each reason.

The generic Store translates the errors of storage into these. apiserver writes `status()` as the body and
`retry_after_seconds` as a header. No HTTP here: `code` is a field of Status.

Must hold: `status()` has its fields in the order in which kube-apiserver prints them, without empty fields. `metadata`
stays in every Status, and `details` stays for the reasons that have it.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.base.names import GroupKind, GroupResource


class Cause(Struct, frozen=True):
    """One cause of a failure. `reason` is a CauseType and `field` a path; both may be empty."""

    reason: str
    message: str
    field: str = ""

    def __str__(self) -> str:
        return f"{self.field}: {self.message}"

    def as_dict(self) -> dict[str, str]:
        fields = {"reason": self.reason, "message": self.message, "field": self.field}
        return {name: value for name, value in fields.items() if value}


class Details(Struct, frozen=True, kw_only=True):
    """The object that the error is about. `kind` holds the resource for most reasons, and the kind for Invalid."""

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
        """The seconds after which a client may try again; 0 when the error gives no advice."""
        return self.details.retry_after_seconds if self.details else 0

    def status(self) -> dict[str, Any]:
        """The Status object that is the body of the response."""
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
    """The request is malformed or contradicts itself."""

    code = 400
    reason = "BadRequest"


class Unauthorized(StatusError):
    """The credentials are wrong or missing."""

    code = 401
    reason = "Unauthorized"

    def __init__(self, message: str = "Unauthorized") -> None:
        super().__init__(message)


class Forbidden(StatusError):
    """Authorization or admission refuses the request. Without a resource, the message is about a path."""

    code = 403
    reason = "Forbidden"

    def __init__(self, resource: GroupResource | None, name: str, *, why: str, causes: Sequence[Cause] = ()) -> None:
        subject = f"{_subject(resource, name)} is forbidden" if resource and str(resource) else "forbidden"
        super().__init__(f"{subject}: {why}", details=_details(resource, name, causes=causes))


class NotFound(StatusError):
    """The object does not exist."""

    code = 404
    reason = "NotFound"

    def __init__(self, resource: GroupResource, name: str) -> None:
        super().__init__(f"{resource} {quote(name)} not found", details=_details(resource, name))


class MethodNotSupported(StatusError):
    """The resource is served, but not with this verb."""

    code = 405
    reason = "MethodNotAllowed"

    def __init__(self, resource: GroupResource, action: str) -> None:
        message = f"{action} is not supported on resources of kind {quote(str(resource))}"
        super().__init__(message, details=_details(resource, ""))


class NotAcceptable(StatusError):
    """None of the media types that the client accepts can be written for this answer."""

    code = 406
    reason = "NotAcceptable"

    def __init__(self, media_types: Iterable[str]) -> None:
        super().__init__(f"only the following media types are accepted: {', '.join(media_types)}")


class NotTransformable(StatusError):
    """The object found cannot be converted to the form that the client accepts, such as a Table."""

    code = 406
    reason = "NotAcceptable"


class AlreadyExists(StatusError):
    """A create met an existing object."""

    code = 409
    reason = "AlreadyExists"

    def __init__(self, resource: GroupResource, name: str) -> None:
        super().__init__(f"{resource} {quote(name)} already exists", details=_details(resource, name))


class GenerateNameConflict(StatusError):
    """Every name generated from generateName is already taken."""

    code = 409
    reason = "AlreadyExists"

    def __init__(self, resource: GroupResource, name: str, *, retry_after_seconds: int = 1) -> None:
        exists = f"{resource} {quote(name)} already exists"
        super().__init__(
            f"{exists}, the server was not able to generate a unique name for the object",
            details=_details(resource, name, retry_after_seconds=retry_after_seconds),
        )


class Conflict(StatusError):
    """The state of the object has changed since the client read it, or does not allow the request."""

    code = 409
    reason = "Conflict"

    def __init__(self, resource: GroupResource, name: str, *, why: str, causes: Sequence[Cause] = ()) -> None:
        message = f"Operation cannot be fulfilled on {resource} {quote(name)}: {why}"
        super().__init__(message, details=_details(resource, name, causes=causes))


class ApplyConflict(StatusError):
    """An apply would change fields that other field managers own."""

    code = 409
    reason = "Conflict"

    def __init__(self, message: str, causes: Sequence[Cause]) -> None:
        super().__init__(message, details=Details(causes=causes))


class Expired(StatusError):
    """The resource version or continue token is too old. `continue_token` lets the client resume the list anyway."""

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
    """The request is larger than the server reads."""

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


class Invalid(StatusError):
    """The object breaks validation rules. Each broken rule is a cause; the message names equal causes once.

    The response has the first causes: a body with 100,000 mistakes would get many megabytes.
    """

    code = 422
    reason = "Invalid"
    most_causes = 2_000

    def __init__(self, kind: GroupKind, name: str, causes: Sequence[Cause]) -> None:
        causes = causes[: self.most_causes]
        message = f"{kind} {quote(name)} is invalid"
        if causes:
            message = f"{message}: {aggregate(map(str, causes))}"
        super().__init__(message, details=Details(name=name, group=kind.group, kind=kind.kind, causes=causes))


class Unprocessable(StatusError):
    """The request cannot be carried out; the Status gives no details. Example: a JSON Patch that does not apply."""

    code = 422
    reason = "Invalid"

    def __init__(self) -> None:
        super().__init__("the server rejected our request due to an error in our request", details=Details())


class TooManyRequests(StatusError):
    """The server or one of its parts is too busy; the client may try again later."""

    code = 429
    reason = "TooManyRequests"

    def __init__(self, message: str, *, retry_after_seconds: int = 1, causes: Sequence[Cause] = ()) -> None:
        super().__init__(message, details=Details(causes=causes, retry_after_seconds=retry_after_seconds))


class ServerResponse(StatusError):
    """The answer of another server that is not a Status: its code and its text."""

    def __init__(self, code: int, resource: GroupResource, name: str, text: str, *, verb: str = "") -> None:
        reason, message = _OF_SERVERS.get(code, ("", ""))
        if not reason and code >= 500:
            reason = "InternalError"
            message = f"an error on the server ({quote(text)}) has prevented the request from succeeding"
        unknown = f"the server responded with the status code {code} but did not return more information"
        message = message or text or unknown
        about = f"{verb} {resource} {name}".rstrip()
        super().__init__(f"{message} ({about})", details=_details(resource, name))
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
"""For each code: the reason and the message. An empty message is replaced by the text of the other server."""


class InternalError(StatusError):
    """A failure inside the server, which is not the fault of the request."""

    code = 500
    reason = "InternalError"

    def __init__(self, why: str) -> None:
        super().__init__(f"Internal error occurred: {why}", details=Details(causes=(Cause("", why),)))


class StoreReadError(StatusError):
    """Objects of a list cannot be decrypted or decoded; the causes name their keys."""

    code = 500
    reason = "StorageReadError"

    def __init__(self, resource: GroupResource, *, causes: Sequence[Cause]) -> None:
        message = f"failed to read one or more {resource} from the storage"
        super().__init__(message, details=_details(resource, "list", causes=causes))


class ServerTimeout(StatusError):
    """The operation failed for a temporary reason, without effect."""

    code = 500
    reason = "ServerTimeout"

    def __init__(self, resource: GroupResource, operation: str, *, retry_after_seconds: int = 0) -> None:
        super().__init__(
            f"The {operation} operation against {resource} could not be completed at this time, please try again.",
            details=_details(resource, operation, retry_after_seconds=retry_after_seconds),
        )


class StoreFull(StatusError):
    """The store has no space for a write. Reads and deletions go on. The status is kube-apiserver's: 500, no reason."""


class ServiceUnavailable(StatusError):
    """A part or server that the request needs cannot be reached now."""

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
    """The store has not reached the resource version that the client asked for."""

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
    """Join messages as Kubernetes' aggregate errors do: each message once, in brackets when there are several."""
    distinct = list(dict.fromkeys(messages))
    return distinct[0] if len(distinct) == 1 else f"[{', '.join(distinct)}]"
