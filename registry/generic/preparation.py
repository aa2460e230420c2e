"""Preparation: rest.BeforeCreate, BeforeUpdate and BeforeDelete: the steps before an object is stored, for all kinds.

Nothing here waits.

Must hold: objects are hub objects without apiVersion and kind. All errors are StatusErrors.
"""

import os
import secrets
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import errors, objects
from aio_apiserver.registry.base.empties import Empties, put_back
from aio_apiserver.registry.base.names import GroupResource
from aio_apiserver.registry.base.validation import names, object_meta
from aio_apiserver.registry.base.validation.errors import invalid_of
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.generic import error_history, gated_fields, url_names
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.options import DeleteOptions, check_delete
from aio_apiserver.registry.generic.rest import Request, timestamp
from aio_apiserver.registry.generic.strategy import Strategy, StrategyContext
from aio_apiserver.storage.interface import Preconditions

_LONGEST_GRACE = (2**63 - 1) // 10**9
"""Seconds: the longest duration in Go, whose nanoseconds have 64 bits, some 292 years."""


def wipe_system_fields(metadata: dict[str, Any]) -> None:
    """Remove the fields that a client cannot set on a new object."""
    for name in ("deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"):
        metadata.pop(name, None)


def fill_system_fields(obj: Object, *, now: float) -> None:
    """Set the uid and creation time of a new object, whatever the client has sent."""
    metadata = obj["metadata"]
    metadata["uid"] = _new_uid()
    metadata["creationTimestamp"] = timestamp(now)


_UIDS_AT_ONCE = 128
_random_digits: list[str] = []
"""The hexadecimal digits of the next uids: asking the system once for each takes as long as the rest of a uid."""
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_random_digits.clear)


def _new_uid() -> str:
    """A random UUID (version 4), in one step: each create needs one."""
    try:
        digits = _random_digits.pop()
    except IndexError:
        drawn = os.urandom(16 * _UIDS_AT_ONCE).hex()
        digits, *others = (drawn[start : start + 32] for start in range(0, len(drawn), 32))
        _random_digits.extend(others)
    variant = "89ab"[int(digits[16], 16) & 3]
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:]}"


_GENERATED_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
_GENERATED_LENGTH = 5
_NAME_LIMIT = 63


def generate_name(prefix: str) -> str:
    """A name that begins with the prefix, cut so that the whole fits a DNS label."""
    suffix = "".join(secrets.choice(_GENERATED_ALPHABET) for _ in range(_GENERATED_LENGTH))
    return prefix[: _NAME_LIMIT - _GENERATED_LENGTH] + suffix


def before_create(kind: Kind, strategy: Strategy, *, request: Request, obj: Object, context: StrategyContext) -> None:
    """Prepare and validate a new object. Raises Invalid with all field errors."""
    url_names.settle_namespace(obj, request, kind)
    prepare_new(kind, strategy, obj=obj, context=context)
    look = partial(_found_in_new, kind, strategy, obj=obj, context=context)
    if found := look():
        found = _as_sent(found, look, obj, request.empties)
        raise invalid_of(kind.group_kind, obj["metadata"].get("name", ""), found)
    _warn(kind, request, strategy.warnings_on_create(context, obj))
    strategy.canonicalize(obj)


def prepare_new(kind: Kind, strategy: Strategy, *, obj: Object, context: StrategyContext) -> None:
    """Drop the fields of closed feature gates, and let the strategy complete a new object."""
    gated_fields.drop(obj, kind.closed)
    strategy.prepare_for_create(context, obj)


def _found_in_new(kind: Kind, strategy: Strategy, *, obj: Object, context: StrategyContext) -> list[FieldError]:
    metadata, is_namespaced = obj["metadata"], kind.is_namespaced
    if strategy.looks_at_metadata:
        found = object_meta.validate(metadata, is_namespaced=is_namespaced, check_name=strategy.check_name)
        return _retold(kind, found + strategy.validate(context, obj))
    found = strategy.validate(context, obj)
    found = found or object_meta.validate(metadata, is_namespaced=is_namespaced, check_name=names.is_path_segment)
    return _retold(kind, found)


def _retold(kind: Kind, found: list[FieldError]) -> list[FieldError]:
    """The errors as the server's minor has them."""
    if not found:
        return found
    errors = error_history.retold(found, kind.errors) if kind.errors else found
    return errors if kind.repeats_errors else error_history.once(errors)


def _warn(kind: Kind, request: Request, warnings: list[str]) -> None:
    for warning in error_history.warnings_of_minor(warnings, kind.warnings) if kind.warnings else warnings:
        request.warn(warning)


def before_update(
    kind: Kind, strategy: Strategy, *, request: Request, new: Object, old: Object, context: StrategyContext
) -> None:
    """Prepare and validate a changed object. Raises Invalid with all field errors."""
    url_names.settle_namespace(new, request, kind)
    objects.carry_over(new["metadata"], old["metadata"], "generation")
    prepare_changed(kind, strategy, new=new, old=old, context=context)
    _keep_system_fields(new["metadata"], old["metadata"])
    look = partial(_found_in_changed, kind, strategy, new=new, old=old, context=context)
    if found := look():
        found = _as_sent(found, look, new, request.empties)
        raise invalid_of(kind.group_kind, new["metadata"].get("name", ""), found)
    _warn(kind, request, strategy.warnings_on_update(context, new, old))
    strategy.canonicalize(new)


def prepare_changed(kind: Kind, strategy: Strategy, *, new: Object, old: Object, context: StrategyContext) -> None:
    """The same for a changed object."""
    if not strategy.counts_closed_fields:
        gated_fields.drop(new, kind.closed, old)
    strategy.prepare_for_update(context, new, old)
    if strategy.counts_closed_fields:
        gated_fields.drop(new, kind.closed, old)


def _found_in_changed(
    kind: Kind, strategy: Strategy, *, new: Object, old: Object, context: StrategyContext
) -> list[FieldError]:
    found = object_meta.validate(new["metadata"], is_namespaced=kind.is_namespaced, check_name=names.is_path_segment)
    found += object_meta.validate_update(new["metadata"], old["metadata"])
    return _retold(kind, found + strategy.validate_update(context, new, old))


def _as_sent(
    found: list[FieldError], look: Callable[[], list[FieldError]], obj: Object, empties: Empties
) -> list[FieldError]:
    """The field errors with the client's empty lists and maps in their values, as kube-apiserver shows them.

    Rules may not expect empty values in an object: if they fail on one, the errors without them are returned.
    """
    if not empties:
        return found
    put_back(obj, empties)
    try:
        shown = look()
    except (LookupError, TypeError):
        return found
    is_same = [(one.type, one.path) for one in shown] == [(one.type, one.path) for one in found]
    return shown if is_same else found


def _keep_system_fields(new: dict[str, Any], old: dict[str, Any]) -> None:
    new.pop("selfLink", None)
    if not new.get("uid") and "uid" in old:
        new["uid"] = old["uid"]
    for name in ("creationTimestamp", "deletionTimestamp"):
        if old.get(name):
            new[name] = old[name]
    if old.get("deletionGracePeriodSeconds") is not None and new.get("deletionGracePeriodSeconds") is None:
        new["deletionGracePeriodSeconds"] = old["deletionGracePeriodSeconds"]


class Grace(Struct, frozen=True):
    """The grace of a deletion. `is_graceful`: it begins with a grace period. `is_pending`: it has begun already."""

    options: DeleteOptions
    is_graceful: bool = False
    is_pending: bool = False


def before_delete(kind: Kind, strategy: Strategy, *, obj: Object, options: DeleteOptions, now: float) -> Grace:
    """Decide on the grace period, and mark the object when its deletion begins or is shortened. Raises Invalid,
    Conflict.
    """
    check_delete(options)
    metadata = obj["metadata"]
    _check_preconditions(kind, metadata, options.preconditions)
    if options.grace_period_seconds is not None and options.grace_period_seconds < 0:
        options = replace(options, grace_period_seconds=1)
    if metadata.get("deletionGracePeriodSeconds", 0) < 0:
        metadata["deletionGracePeriodSeconds"] = 1
    period = strategy.check_graceful_delete(obj, options)
    if period is None:
        return Grace(options)
    if metadata.get("deletionTimestamp"):
        return _shorten(metadata, options, now=now)
    period = min(period, _LONGEST_GRACE)
    options = replace(options, grace_period_seconds=period)
    metadata["deletionTimestamp"] = timestamp(now + period)
    metadata["deletionGracePeriodSeconds"] = period
    if metadata.get("generation", 0) > 0:
        metadata["generation"] += 1
    return Grace(options, is_graceful=True)


def _check_preconditions(kind: Kind, metadata: dict[str, Any], preconditions: Preconditions | None) -> None:
    if preconditions is None:
        return
    # The resource of this message is the kind: so it is upstream, and clients compare messages.
    subject = GroupResource(kind.group_kind.group, kind.group_kind.kind)
    if preconditions.uid is not None and preconditions.uid != metadata.get("uid", ""):
        why = (
            f"the UID in the precondition ({preconditions.uid}) does not match the UID in record "
            f"({metadata.get('uid', '')}). The object might have been deleted and then recreated"
        )
        raise errors.Conflict(subject, metadata["name"], why=why)
    if preconditions.resource_version is not None and preconditions.resource_version != metadata["resourceVersion"]:
        why = (
            f"the ResourceVersion in the precondition ({preconditions.resource_version}) does not match "
            f"the ResourceVersion in record ({metadata['resourceVersion']}). The object might have been modified"
        )
        raise errors.Conflict(subject, metadata["name"], why=why)


def _shorten(metadata: dict[str, Any], options: DeleteOptions, *, now: float) -> Grace:
    """A second deletion of a terminating object: it can end sooner, never later."""
    left = metadata.get("deletionGracePeriodSeconds", 0)
    if left == 0:
        return Grace(options)
    period = options.grace_period_seconds
    if period is None:
        return Grace(replace(options, grace_period_seconds=left), is_pending=True)
    if period >= left:
        return Grace(options, is_pending=True)
    ends = datetime.fromisoformat(metadata["deletionTimestamp"]) - timedelta(seconds=left - period)
    if ends.timestamp() < int(now):
        ends = datetime.fromtimestamp(int(now), UTC)
        period = 1 if period else 0
    metadata["deletionTimestamp"] = timestamp(ends.timestamp())
    metadata["deletionGracePeriodSeconds"] = period
    return Grace(replace(options, grace_period_seconds=period), is_graceful=True)
