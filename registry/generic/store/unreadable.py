"""Unreadable: the deletion of an object whose stored value cannot be decrypted or decoded.

A client asks for it with the DeleteOptions field ignoreStoreReadErrorWithClusterBreakingPotential, and needs the right
to the verb unsafe-delete-ignore-read-errors. Must hold: an object that can be read is refused. Nothing runs that needs
the object: no finalizer holds it, and neither admission nor hooks see it.
"""

from collections.abc import Iterator

from aio_apiserver.registry.base.names import GroupKind
from aio_apiserver.registry.base.validation import field
from aio_apiserver.registry.base.validation.errors import invalid_of
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.generic.access.authorizer import Attributes as Question
from aio_apiserver.registry.generic.admission.interface import Operation
from aio_apiserver.registry.generic.admission.refusals import forbidden
from aio_apiserver.registry.generic.options import DeleteOptions, invalid
from aio_apiserver.registry.generic.rest import Deleted, Request
from aio_apiserver.registry.generic.store.road import Road
from aio_apiserver.storage.errors import Corrupt, StorageError

_OPTION = "ignoreStoreReadErrorWithClusterBreakingPotential"
_RIGHT = "unsafe-delete-ignore-read-errors"
_ANNOTATION = "apiserver.k8s.io/unsafe-delete-ignore-read-error"
_READABLE = "is exclusively used to delete corrupt object(s), try again by removing this option"
_COLLECTION = "is not allowed with DELETECOLLECTION, try again after removing the option"


def is_wanted(road: Road, options: DeleteOptions) -> bool:
    """Whether the client asks for it. Without the feature gate, the option has no effect."""
    return options.ignores_read_error and road.config.deletes_unreadable


def refuse_collection(road: Road, options: DeleteOptions) -> None:
    """Raises Invalid when a deletion of a collection asks for it."""
    if is_wanted(road, options):
        raise invalid("DeleteOptions", [*_conflicts(options), field.invalid(_OPTION, True, _COLLECTION)])


async def delete(road: Road, request: Request, name: str, options: DeleteOptions) -> Deleted:
    """Delete the key. Raises Invalid for an object that can be read or does not exist."""
    if conflicts := list(_conflicts(options)):
        raise invalid("DeleteOptions", conflicts)
    request.annotate(_ANNOTATION, "")
    await _authorize(road, request, name, options)
    key = road.key(request, name)
    if not await _is_unreadable(road, key):
        of = GroupKind(road.kind.group, road.kind.plural)
        raise invalid_of(of, name, [field.invalid(_OPTION, True, _READABLE)])
    stored = await road.interpreted(road.storage.delete(key), "delete", name)
    return Deleted(stored, is_gone=True, is_readable=False)


def _conflicts(options: DeleteOptions) -> Iterator[FieldError]:
    """The options that need the object."""
    given = {
        ".dryRun": bool(options.dry_run),
        ".propagationPolicy": options.propagation_policy is not None,
        ".orphanDependents": options.orphan_dependents is not None,
        ".gracePeriodSeconds": options.grace_period_seconds is not None,
        ".preconditions": options.preconditions is not None,
    }
    for name, is_given in given.items():
        if is_given:
            yield field.invalid(_OPTION, True, f"cannot be set together with {name}")


async def _is_unreadable(road: Road, key: str) -> bool:
    try:
        await road.storage.get(key)
    except Corrupt:
        return True
    except StorageError:
        return False
    return False


async def _authorize(road: Road, request: Request, name: str, options: DeleteOptions) -> None:
    kind = road.kind
    question = Question(
        request.user, _RIGHT, kind.group, request.version, kind.plural, namespace=request.namespace, name=name
    )
    decision = await road.authorizer.authorize(question)
    if not decision.is_allowed:
        why = f'not permitted to do "{_RIGHT}", reason: {decision.reason}'
        if decision.error:
            why = f'error while checking permission for "{_RIGHT}", {decision.error}'
        raise forbidden(road.attributes(Operation.DELETE, request, options, name=name), why)
