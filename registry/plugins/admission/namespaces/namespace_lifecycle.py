"""NamespaceLifecycle: refuses new objects in a missing or terminating namespace, and the deletion of three system
namespaces.

Must hold: a cached namespace that is active admits the write without a read. A refusal is decided on the newest state.
"""

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import errors, objects
from aio_apiserver.registry.base.errors import Cause
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.base.validation import names
from aio_apiserver.registry.generic.admission import refusals
from aio_apiserver.registry.generic.admission.interface import Attributes, Operation, Plugin
from aio_apiserver.registry.generic.lookups import Lookup
from aio_apiserver.registry.groups.authorization.provider import LOCAL as LOCAL_REVIEWS
from aio_apiserver.registry.groups.core.namespaces.namespaces import NAMESPACES
from aio_apiserver.storage.interface import Reader

IMMORTAL = frozenset({"default", "kube-public", "kube-system"})

_NAMESPACES = NAMESPACES.resource
_REVIEWS = frozenset({LOCAL_REVIEWS.resource})
_TERMINATING = "Terminating"


class NamespaceLifecycle(Plugin):
    """Looks namespaces up in their storage."""

    name = "NamespaceLifecycle"
    operations = frozenset({Operation.CREATE, Operation.UPDATE, Operation.DELETE})

    def __init__(self, namespaces: Reader) -> None:
        self._namespaces: Lookup[bool] = Lookup(namespaces, _NAMESPACES, _says_it_ends)

    async def mutate(self, attributes: Attributes) -> None:
        if attributes.resource == _NAMESPACES:
            _protect_immortal(attributes)
            return
        if attributes.operation is Operation.DELETE or not attributes.namespace or attributes.resource in _REVIEWS:
            return
        is_ending = await self._is_ending(attributes.namespace)
        if attributes.operation is Operation.CREATE and is_ending:
            raise _ending(attributes)

    async def _is_ending(self, name: str) -> bool:
        """Whether a namespace is terminating: first from the cache, and unless that says no, from a fresh read. Raises
        NotFound.
        """
        if await self._namespaces.cached(name) is False:
            return False
        if wrong := names.is_path_segment(name, False):
            raise errors.InternalError(f"invalid resource name {quote(name)}: [{' '.join(wrong)}]")
        return await self._namespaces.newest(name)


def _says_it_ends(namespace: Object) -> bool:
    return bool(objects.get(namespace, "status.phase") == _TERMINATING)


def _protect_immortal(attributes: Attributes) -> None:
    if attributes.operation is Operation.DELETE and attributes.name in IMMORTAL:
        raise errors.Forbidden(_NAMESPACES, attributes.name, why="this namespace may not be deleted")


def _ending(attributes: Attributes) -> errors.Forbidden:
    name = attributes.namespace
    cause = Cause("NamespaceTerminating", f"namespace {name} is being terminated", "metadata.namespace")
    why = f"unable to create new content in namespace {name} because it is being terminated"
    return refusals.forbidden(attributes, why, causes=[cause])
