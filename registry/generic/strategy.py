"""Strategy: the rules of a kind before storage, after rest.RESTCreateStrategy and its siblings.

Every object that a client sends, or makes with a patch, passes `default` first. Then the generic Store calls, in this
order. Create: prepare_for_create, validate, warnings_on_create, canonicalize. Update: prepare_for_update,
validate_update, warnings_on_update, canonicalize. Delete: check_graceful_delete and garbage_collection. Objects are hub
objects in plain dicts.

Must hold: default, prepare_* and canonicalize change the new object in place, and leave the old one. validate* change
nothing.

Everything here is pure: rules that need other objects or I/O are admission plugins or hooks.
"""

from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any

from msgspec import Struct

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import objects
from aio_apiserver.registry.base.empties import Empties, is_still_empty
from aio_apiserver.registry.base.timeline import DEFAULT, Version
from aio_apiserver.registry.base.validation import names, object_meta
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.base.validation.names import NameCheck
from aio_apiserver.registry.generic.access.users import ANONYMOUS, UserInfo
from aio_apiserver.registry.generic.options import DeleteOptions


class GarbageCollection(Enum):
    """The treatment of dependents when a deletion does not name one."""

    DELETE_DEPENDENTS = "DeleteDependents"
    ORPHAN_DEPENDENTS = "OrphanDependents"
    UNSUPPORTED = "Unsupported"


def _unheard(_warning: str) -> None:
    """Ignore a warning."""


class StrategyContext(Struct, frozen=True, kw_only=True):
    """The part of the request that a strategy sees: the user, the namespace and the time, no HTTP."""

    namespace: str
    user: UserInfo = ANONYMOUS
    now: float = 0.0
    warn: Callable[[str], None] = _unheard
    """Sends the client a warning, whether or not the request succeeds."""
    allows_privileged: bool = False
    """Whether privileged containers are allowed (--allow-privileged)."""
    found: Sequence[FieldError] = ()
    """The field errors of the kind's check hook, which knows other objects and the user's rights."""
    empties: Empties = ()
    """The empty lists and maps in the client's body."""
    may_take_long: bool = False
    """Whether the strategy runs in the worker thread. On the event loop it may raise worker_thread.TakesLong."""


class Strategy(Struct, frozen=True, kw_only=True):
    """The behaviour of a kind without rules of its own, by the shape of its objects.

    version: the minor whose internal types its errors show. Kind.at sets it.

    has_status: create drops `status`, an update of the main resource keeps the old one.

    takes_long: its rules may take long for objects of any size.

    has_generation: metadata.generation starts at 1 and grows with each change outside of metadata and status.

    counts_empties: an empty list or map in the client's body is such a change, although it is not stored.

    check_name: returns the errors of an object's name, or of a prefix of one.

    counts_closed_fields: whether a new value of a field counts as a change of the generation although its feature gate
    drops the field.

    looks_at_metadata: whether its errors begin with those of the metadata. Otherwise the rules of all metadata count
    where nothing else is wrong.

    allows_any_finalizer: whether finalizers without a domain may be others than Kubernetes' own.
    """

    version: Version = DEFAULT
    has_status: bool = False
    has_generation: bool = False
    counts_empties: bool = False
    takes_long: bool = False
    allows_create_on_update: bool = False
    allows_unconditional_update: bool = True
    garbage_collection: GarbageCollection = GarbageCollection.DELETE_DEPENDENTS
    check_name: NameCheck = names.is_dns_subdomain
    looks_at_metadata: bool = True
    counts_closed_fields: bool = False
    allows_any_finalizer: bool = False

    def default(self, obj: Object) -> None:
        """Set, in place, the defaults that depend on other fields; those of its types are set already.

        It runs before admission, for all uses of the object: nothing in it has been validated.
        """

    def prepare_for_create(self, context: StrategyContext, obj: Object) -> None:
        """Reset the fields that clients may not set."""
        if self.has_status:
            obj.pop("status", None)
        if self.has_generation:
            obj["metadata"]["generation"] = 1

    def prepare_for_update(self, context: StrategyContext, new: Object, old: Object) -> None:
        """Keep the fields that an update may not change."""
        if self.has_status:
            objects.carry_over(new, old, "status")
        if self.has_generation and (self.is_changed(new, old) or self._is_emptied(context, new)):
            new["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1

    def _is_emptied(self, context: StrategyContext, new: Object) -> bool:
        if not self.counts_empties:
            return False
        return any(one.path[0] not in _BESIDES and is_still_empty(new, one) for one in context.empties)

    def is_changed(self, new: Object, old: Object) -> bool:
        """Whether an update makes a new generation. Both are in canonical form."""
        return _without_metadata_and_status(new) != _without_metadata_and_status(old)

    def validate(self, context: StrategyContext, obj: Object) -> list[FieldError]:
        """The field errors of a new object, without those of the common rules for metadata."""
        finalizers = obj["metadata"].get("finalizers")
        if self.allows_any_finalizer or not finalizers:
            return []
        return object_meta.validate_builtin_finalizers(finalizers)

    def validate_again(self, context: StrategyContext, obj: Object) -> list[FieldError]:
        """The field errors of a changed object by the rules for a new one, which many kinds check on updates."""
        return self.validate_metadata_again(obj) + self.validate(context, obj)

    def validate_metadata_again(self, obj: Object) -> list[FieldError]:
        """The common rules of a new object's metadata, for a changed one."""
        metadata = obj["metadata"]
        is_namespaced = bool(metadata.get("namespace"))
        return object_meta.validate(metadata, is_namespaced=is_namespaced, check_name=self.check_name)

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        """The field errors of a changed object.

        It repeats the metadata's rules for updates, which the Store checks too: kube-apiserver lists their causes
        twice.
        """
        errors = object_meta.validate_update(new["metadata"], old["metadata"])
        return errors + Strategy.validate(self, context, new)

    def warnings_on_create(self, context: StrategyContext, obj: Object) -> list[str]:
        """The warnings for an accepted object."""
        return []

    def warnings_on_update(self, context: StrategyContext, new: Object, old: Object) -> list[str]:
        """The warnings for an accepted change."""
        return []

    def warnings_on_delete(self, options: DeleteOptions) -> list[str]:
        """The warnings for the options of a deletion."""
        return []

    def canonicalize(self, obj: Object) -> None:
        """Bring equal objects to equal form."""

    def check_delete(self, name: str) -> None:
        """Raise a StatusError for an object that cannot be deleted by its name; a deletion of a collection may include
        it.
        """

    def is_held(self, obj: Object) -> bool:
        """Whether a terminating object stays although neither grace nor finalizers hold it."""
        return False

    def check_graceful_delete(self, obj: Object, options: DeleteOptions) -> int | None:
        """The grace period in seconds of a graceful deletion; None for an immediate one."""
        return None


class StatusStrategy(Strategy, frozen=True, kw_only=True):
    """The behaviour of /status: only `status` and, unless it `keeps_metadata`, part of the metadata change."""

    keeps_metadata: bool = False

    def prepare_for_update(self, context: StrategyContext, new: Object, old: Object) -> None:
        """Keep everything but the status, and the metadata that may change with it."""
        for name in [*old, *new]:
            if name not in {"metadata", "status"}:
                objects.carry_over(new, old, name)
        if self.keeps_metadata:
            keep_metadata(new, old)


def keep_metadata(new: Object, old: Object) -> None:
    """Keep the metadata that subresources may not change."""
    for name in _KEPT_METADATA:
        objects.carry_over(new["metadata"], old["metadata"], name)


_KEPT_METADATA = (
    "deletionTimestamp",
    "generation",
    "selfLink",
    "labels",
    "annotations",
    "finalizers",
    "ownerReferences",
)


_BESIDES = frozenset({"metadata", "status"})
"""The members whose changes make no new generation."""


def _without_metadata_and_status(obj: Object) -> dict[str, Any]:
    return {name: value for name, value in obj.items() if name not in _BESIDES}
