"""Parameters: the query of a resource request, decoded and checked as kube-apiserver's options.

Pure. Must hold: unknown parameters are ignored. A boolean is true unless it is `false` or `0`. Of a repeated parameter
the first value counts, but for dryRun. All errors of a combination are reported together.
"""

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from aio_apiserver.apiserver.wire.urls import Query
from aio_apiserver.registry.base import errors
from aio_apiserver.registry.base.errors import BadRequest
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.base.names import GroupKind
from aio_apiserver.registry.base.validation import field
from aio_apiserver.registry.base.validation.errors import invalid_of
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.options import (
    META_GROUP,
    NO_CREATE_OPTIONS,
    NO_UPDATE_OPTIONS,
    CreateOptions,
    DeleteOptions,
    PatchOptions,
    UpdateOptions,
)
from aio_apiserver.registry.machinery.selectors import fields, labels
from aio_apiserver.storage.interface import ListOptions, Preconditions, ResourceVersionMatch, WatchOptions
from aio_apiserver.storage.selection import EVERYTHING, Operator, Requirement, SelectionPredicate

_MAX_UINT64 = 2**64 - 1
_MAX_INT64 = 2**63 - 1
_MOST_DIGITS = 20
_BEYOND = 2**64
_ANY_VERSION = 1


class Selection(Struct, frozen=True, kw_only=True):
    """The options of a list, watch or deletecollection. `send_initial_events` is None when it is not set."""

    predicate: SelectionPredicate = EVERYTHING
    resource_version: str = ""
    match: str = ""
    limit: int = 0
    continue_token: str = ""
    timeout_seconds: int | None = None
    allows_bookmarks: bool = False
    send_initial_events: bool | None = None
    is_watch: bool = False

    def list_options(self) -> ListOptions:
        """The options for storage. Raises BadRequest for an invalid resourceVersion."""
        return ListOptions(
            resource_version=self._version(),
            match=ResourceVersionMatch(self.match) if self.resource_version else ResourceVersionMatch.UNSET,
            predicate=self.predicate,
            limit=self.limit,
            continue_token=self.continue_token,
        )

    def _version(self) -> int | None:
        """The resource version. With a continue token, storage checks the token first, and then refuses any version."""
        if self.continue_token and self.resource_version not in {"", "0"}:
            return _ANY_VERSION
        try:
            return parse_resource_version(self.resource_version)
        except errors.StatusError as exc:
            raise BadRequest(f"invalid resource version: {exc.message}") from exc

    def watch_options(self) -> WatchOptions:
        """The options for storage. Raises a Status without a reason, code 500, for an invalid resourceVersion, as
        kube-apiserver does.
        """
        return WatchOptions(
            resource_version=parse_resource_version(self.resource_version),
            predicate=self.predicate,
            allow_bookmarks=self.allows_bookmarks,
            send_initial_events=bool(self.send_initial_events),
        )


def selection(query: Query, kind: Kind, *, name: str = "") -> Selection:
    """The options of a list or watch. `name`: the object name of a watch path. Raises BadRequest, Invalid.

    The query decides whether it is a watch: a request with a deprecated watch path has the options of a list.
    """
    if not query and not name:
        return _EVERYTHING
    selected = Selection(
        predicate=EVERYTHING,
        resource_version=text(query, "resourceVersion"),
        match=text(query, "resourceVersionMatch"),
        timeout_seconds=integer(query, "timeoutSeconds"),
        limit=max(integer(query, "limit") or 0, 0),
        continue_token=text(query, "continue"),
        allows_bookmarks=bool(flag(query, "allowWatchBookmarks")),
        send_initial_events=flag(query, "sendInitialEvents"),
        is_watch=bool(flag(query, "watch")),
    )
    label_requirements = labels.parse(text(query, "labelSelector"))
    field_text = text(query, "fieldSelector")
    fields.terms(field_text)
    selected = _with_defaults(selected)
    _check(selected)
    field_requirements = _named(fields.parse(field_text, kind), name)
    return _selecting(selected, SelectionPredicate(label_requirements, field_requirements))


_EVERYTHING = Selection()


def create_options(query: Query) -> CreateOptions:
    """CreateOptions of the query, not validated."""
    if not query:
        return NO_CREATE_OPTIONS
    return CreateOptions(
        dry_run=tuple(query.get("dryRun", ())),
        field_manager=text(query, "fieldManager"),
        field_validation=text(query, "fieldValidation"),
    )


def update_options(query: Query) -> UpdateOptions:
    """UpdateOptions of the query, not validated."""
    if not query:
        return NO_UPDATE_OPTIONS
    return UpdateOptions(
        dry_run=tuple(query.get("dryRun", ())),
        field_manager=text(query, "fieldManager"),
        field_validation=text(query, "fieldValidation"),
    )


def patch_options(query: Query) -> PatchOptions:
    """PatchOptions of the query, not validated."""
    return PatchOptions(
        dry_run=tuple(query.get("dryRun", ())),
        field_manager=text(query, "fieldManager"),
        field_validation=text(query, "fieldValidation"),
        force=flag(query, "force"),
    )


def delete_options(query: Query) -> DeleteOptions:
    """DeleteOptions of the query, for a request without a body, not validated."""
    uid, version = text(query, "uid"), text(query, "resourceVersion")
    return DeleteOptions(
        dry_run=tuple(query.get("dryRun", ())),
        grace_period_seconds=integer(query, "gracePeriodSeconds"),
        preconditions=Preconditions(uid or None, version or None) if uid or version else None,
        orphan_dependents=flag(query, "orphanDependents"),
        propagation_policy=query["propagationPolicy"][0] if "propagationPolicy" in query else None,
        ignores_read_error=bool(flag(query, "ignoreStoreReadErrorWithClusterBreakingPotential")),
    )


def text(query: Query, name: str) -> str:
    """The first value of a parameter; empty without one."""
    values = query.get(name)
    return values[0] if values else ""


def flag(query: Query, name: str) -> bool | None:
    """A boolean; None without the parameter."""
    values = query.get(name)
    return None if not values else values[0].lower() not in {"false", "0"}


def integer(query: Query, name: str) -> int | None:
    """A 64-bit integer; None without the parameter. Raises BadRequest."""
    values = query.get(name)
    if not values:
        return None
    value = values[0]
    digits = value[1:] if value[:1] in {"+", "-"} else value
    if not (digits.isascii() and digits.isdigit()):
        raise BadRequest(f"strconv.ParseInt: parsing {quote(value)}: invalid syntax")
    number = -_magnitude(digits) if value.startswith("-") else _magnitude(digits)
    if not -_MAX_INT64 - 1 <= number <= _MAX_INT64:
        raise BadRequest(f"strconv.ParseInt: parsing {quote(value)}: value out of range")
    return number


def parse_resource_version(value: str) -> int | None:
    """A resourceVersion; None when it is empty. Raises a Status without a reason, code 500."""
    if not value:
        return None
    if not (value.isascii() and value.isdigit()):
        raise _unparsable(value, "invalid syntax")
    number = _magnitude(value)
    if number > _MAX_UINT64:
        raise _unparsable(value, "value out of range")
    return number


def _magnitude(digits: str) -> int:
    """The number, or one beyond 64 bits when there are too many digits: Python does not convert those."""
    significant = digits.lstrip("0") or "0"
    return int(significant) if len(significant) <= _MOST_DIGITS else _BEYOND


def _unparsable(value: str, why: str) -> errors.StatusError:
    error = field.invalid("resourceVersion", value, f"strconv.ParseUint: parsing {quote(value)}: {why}")
    return errors.StatusError(str(error))


def _with_defaults(selected: Selection) -> Selection:
    """A watch without a resource version or match begins with the present state."""
    if not selected.is_watch or selected.send_initial_events is not None or selected.match:
        return selected
    if selected.resource_version not in {"", "0"}:
        return selected
    return replace(selected, match=ResourceVersionMatch.NOT_OLDER_THAN.value, send_initial_events=True)


def _check(selected: Selection) -> None:
    found = _watch_errors(selected) if selected.is_watch else _list_errors(selected)
    if found:
        raise invalid_of(GroupKind(META_GROUP, "ListOptions"), "", found)


def _list_errors(selected: Selection) -> list[FieldError]:
    found = []
    path, match = "resourceVersionMatch", selected.match
    if match:
        if not selected.resource_version:
            found.append(field.forbidden(path, f"{path} is forbidden unless resourceVersion is provided"))
        if selected.continue_token:
            found.append(field.forbidden(path, f"{path} is forbidden when continue is provided"))
        if match not in {"Exact", "NotOlderThan"}:
            found.append(field.not_supported(path, match, ("Exact", "NotOlderThan", "")))
        if match == "Exact" and selected.resource_version == "0":
            found.append(field.forbidden(path, f'{path} "exact" is forbidden for resourceVersion "0"'))
    if selected.send_initial_events is not None:
        found.append(field.forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list"))
    return found


def _watch_errors(selected: Selection) -> list[FieldError]:
    found = []
    path, match, newest = "resourceVersionMatch", selected.match, "NotOlderThan"
    is_said = selected.send_initial_events is not None
    if is_said and match != newest:
        found.append(field.forbidden(path, f"sendInitialEvents requires setting {path} to {newest}"))
    if match:
        if not is_said:
            why = f"{path} is forbidden for watch unless sendInitialEvents is provided"
            found.append(field.forbidden(path, why))
        if match != newest:
            found.append(field.not_supported(path, match, (newest,)))
        if selected.continue_token:
            found.append(field.forbidden(path, f"{path} is forbidden when continue is provided"))
    return found


def _named(requirements: Sequence[Requirement], name: str) -> tuple[Requirement, ...]:
    """The requirements, with one for the name of the path. A field selector may repeat that name, but no other."""
    wanted = Requirement("metadata.name", Operator.IN, frozenset({name}))
    if not name or wanted in requirements:
        return tuple(requirements)
    if requirements:
        raise BadRequest("fieldSelector metadata.name doesn't match requested name")
    return (wanted,)


def _selecting(selected: Selection, predicate: SelectionPredicate) -> Selection:
    return selected if predicate.is_everything else replace(selected, predicate=predicate)
