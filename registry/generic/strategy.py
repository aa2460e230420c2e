"""Strategy: what a kind does differently on its way into storage.

Every object that a client sends, or makes with a patch, passes `default` first. Then the generic Store calls, in this
order. Create: prepare_for_create, validate, warnings_on_create, canonicalize. Update: prepare_for_update,
validate_update, warnings_on_update, canonicalize. Delete: check_graceful_delete and garbage_collection. Objects are hub
objects in plain dicts.

Must hold: default, prepare_* and canonicalize change the new object in place and nothing else; validate* change
nothing.
Everything here is pure: what needs other objects or I/O is admission or an After hook.
"""

from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any

from msgspec import Struct

from aio_apiserver.registry.base import objects
from aio_apiserver.registry.base.empties import Empties, is_still_empty
from aio_apiserver.registry.base.validation import names, object_meta
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.base.validation.names import NameCheck
from aio_apiserver.registry.generic.access.users import ANONYMOUS, UserInfo
from aio_apiserver.registry.generic.options import DeleteOptions
from aio_apiserver.storage.stored_object import Object


class GarbageCollection(Enum):
    """What becomes of dependents when a deletion does not say."""

    DELETE_DEPENDENTS = "DeleteDependents"
    ORPHAN_DEPENDENTS = "OrphanDependents"
    UNSUPPORTED = "Unsupported"


def _unheard(_warning: str) -> None:
    """What becomes of warnings that nobody listens to."""


class StrategyContext(Struct, frozen=True, kw_only=True):
    """What a strategy may know of the request: who asks for what and when, never how."""

    namespace: str
    user: UserInfo = ANONYMOUS
    now: float = 0.0
    warn: Callable[[str], None] = _unheard
    """Tells the client something, whatever becomes of the request."""
    allows_privileged: bool = False
    """Whether containers may have all rights of their host."""
    found: Sequence[FieldError] = ()
    """What the kind's check has found to be wrong: it knows other objects, and the rights of the user."""
    empties: Empties = ()
    """What was sent empty."""
    may_take_long: bool = False
    """Whether nobody waits while the strategy works: where somebody does, it may raise worker_thread.TakesLong."""


class Strategy(Struct, frozen=True, kw_only=True):
    """The behaviour of a kind without rules of its own, by what its objects look like.

    has_status: create drops `status`, an update of the main resource keeps the old one.
    takes_long: its rules may take long whatever they are about.
    has_generation: metadata.generation starts at 1 and grows when anything but metadata and status changes.
    counts_empties: what was sent empty is such a change, since it is nothing once it is stored.
    check_name: what is wrong with the name of an object, or with a prefix of one.
    looks_at_metadata: whether its errors begin with those of the metadata; else the rules that all metadata have count
    only where nothing else is wrong.
    allows_any_finalizer: whether finalizers without a domain may be others than Kubernetes' own.
    """

    has_status: bool = False
    has_generation: bool = False
    counts_empties: bool = False
    takes_long: bool = False
    allows_create_on_update: bool = False
    allows_unconditional_update: bool = True
    garbage_collection: GarbageCollection = GarbageCollection.DELETE_DEPENDENTS
    check_name: NameCheck = names.is_dns_subdomain
    looks_at_metadata: bool = True
    allows_any_finalizer: bool = False

    def default(self, obj: Object) -> None:
        """Fill in, in place, the defaults that follow from the rest of an object; those of its types are there.

        It runs before admission, whatever the object is meant for: nothing in it has been validated.
        """

    def prepare_for_create(self, context: StrategyContext, obj: Object) -> None:
        """Reset what clients may not set."""
        if self.has_status:
            obj.pop("status", None)
        if self.has_generation:
            obj["metadata"]["generation"] = 1

    def prepare_for_update(self, context: StrategyContext, new: Object, old: Object) -> None:
        """Keep what an update may not change."""
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
        """What is wrong with a new object, its metadata's common rules excepted."""
        if self.allows_any_finalizer:
            return []
        return object_meta.validate_builtin_finalizers(obj["metadata"].get("finalizers") or ())

    def validate_again(self, context: StrategyContext, obj: Object) -> list[FieldError]:
        """What is wrong with a changed object when it is looked at like a new one, as many kinds do on updates."""
        return self.validate_metadata_again(obj) + self.validate(context, obj)

    def validate_metadata_again(self, obj: Object) -> list[FieldError]:
        """The common rules of a new object's metadata, for a changed one."""
        metadata = obj["metadata"]
        is_namespaced = bool(metadata.get("namespace"))
        return object_meta.validate(metadata, is_namespaced=is_namespaced, check_name=self.check_name)

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        """What is wrong with a changed object.

        The metadata's rules for updates stand here once more though the Store checks them too: kube-apiserver lists
        their causes twice.
        """
        errors = object_meta.validate_update(new["metadata"], old["metadata"])
        return errors + Strategy.validate(self, context, new)

    def warnings_on_create(self, context: StrategyContext, obj: Object) -> list[str]:
        """What the client should hear though the object is accepted."""
        return []

    def warnings_on_update(self, context: StrategyContext, new: Object, old: Object) -> list[str]:
        """What the client should hear though the change is accepted."""
        return []

    def warnings_on_delete(self, options: DeleteOptions) -> list[str]:
        """What the client should hear of the way in which it deletes."""
        return []

    def canonicalize(self, obj: Object) -> None:
        """Bring equal objects to equal form."""

    def check_delete(self, name: str) -> None:
        """Raise a StatusError for an object that no request may delete by its name (with others it may go)."""

    def is_held(self, obj: Object) -> bool:
        """Whether an ending object stays though neither grace nor finalizers of its metadata hold it."""
        return False

    def check_graceful_delete(self, obj: Object, options: DeleteOptions) -> int | None:
        """The grace period in seconds for an object that ends by degrees; None for one that goes at once."""
        return None


class StatusStrategy(Strategy, frozen=True, kw_only=True):
    """The behaviour of /status: only `status` and, unless it `keeps_metadata`, part of the metadata change."""

    keeps_metadata: bool = False

    def prepare_for_update(self, context: StrategyContext, new: Object, old: Object) -> None:
        """Keep everything but the status and what managers of metadata may change with it."""
        for name in [*old, *new]:
            if name not in {"metadata", "status"}:
                objects.carry_over(new, old, name)
        if self.keeps_metadata:
            keep_metadata(new, old)


def keep_metadata(new: Object, old: Object) -> None:
    """Keep what of the metadata is not for subresources to change."""
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
"""What makes no new generation."""


def _without_metadata_and_status(obj: Object) -> dict[str, Any]:
    return {name: value for name, value in obj.items() if name not in _BESIDES}
