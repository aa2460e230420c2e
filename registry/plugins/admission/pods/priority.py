"""Priority: sets a pod's priority and preemptionPolicy from its PriorityClass.

Must hold: every stored pod has a priority. It stays the same when the class changes or is deleted.
"""

from msgspec import Struct

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.generic.admission import refusals
from aio_apiserver.registry.generic.admission.interface import Attributes, Operation, Plugin
from aio_apiserver.registry.generic.lookups import Lookup
from aio_apiserver.registry.groups.scheduling.priorityclasses import PRIORITYCLASSES
from aio_apiserver.registry.plugins.admission.pod_writes import PODS, is_pod
from aio_apiserver.storage.interface import Reader

_CLASSES = PRIORITYCLASSES.resource
_KEPT = ("priority", "preemptionPolicy")


class _PriorityClass(Struct, frozen=True):
    name: str
    value: int = 0
    preemption_policy: str = "PreemptLowerPriority"
    is_global_default: bool = False


_NO_CLASS = _PriorityClass("")
"""The values for pods without a class, when no class is the default."""
_SYSTEM_CLASSES = {
    "system-cluster-critical": _PriorityClass("system-cluster-critical", 2_000_000_000),
    "system-node-critical": _PriorityClass("system-node-critical", 2_000_001_000),
}
"""System classes, which count also before their objects are created."""


class Priority(Plugin):
    """Reads priority classes at any revision that the cache has."""

    name = "Priority"
    operations = frozenset({Operation.CREATE, Operation.UPDATE})
    resources = frozenset({PODS, _CLASSES})

    def __init__(self, classes: Reader) -> None:
        self._classes = Lookup(classes, _CLASSES, _parsed)

    async def mutate(self, attributes: Attributes) -> None:
        if not is_pod(attributes):
            return
        assert attributes.obj is not None
        spec = attributes.obj["spec"]
        if attributes.operation is Operation.CREATE:
            _apply(attributes, spec, await self._class_of(attributes, spec))
        else:
            assert attributes.old is not None
            _keep(spec, attributes.old["spec"])

    async def validate(self, attributes: Attributes) -> None:
        if attributes.resource != _CLASSES or attributes.subresource:
            return
        assert attributes.obj is not None
        if not attributes.obj.get("globalDefault"):
            return
        default = await self._default_class()
        is_other = attributes.operation is Operation.CREATE or default.name != attributes.obj["metadata"]["name"]
        if default.name and is_other:
            why = f"PriorityClass {default.name} is already marked as default. Only one default can exist"
            raise refusals.forbidden(attributes, why)

    async def _class_of(self, attributes: Attributes, spec: Object) -> _PriorityClass:
        name = spec.get("priorityClassName")
        if not name:
            return await self._default_class()
        found = await self._classes.get(name) or _SYSTEM_CLASSES.get(name)
        if found is None:
            raise refusals.forbidden(attributes, f"no PriorityClass with name {name} was found")
        return found

    async def _default_class(self) -> _PriorityClass:
        """The default class. When a race has created several, the one with the lowest value."""
        defaults = [one for one in await self._classes.list() if one.is_global_default]
        return min(defaults, key=lambda one: one.value, default=_NO_CLASS)


def _parsed(obj: Object) -> _PriorityClass:
    return _PriorityClass(
        obj["metadata"]["name"],
        obj.get("value") or 0,
        obj.get("preemptionPolicy") or _NO_CLASS.preemption_policy,
        bool(obj.get("globalDefault")),
    )


def _apply(attributes: Attributes, spec: Object, wanted: _PriorityClass) -> None:
    computed = "priority admission controller computed {} from the given PriorityClass name"
    given = spec.get("priority", wanted.value)
    if given != wanted.value:
        why = (
            f"the integer value of priority ({given}) must not be provided in pod spec; {computed.format(wanted.value)}"
        )
        raise refusals.forbidden(attributes, why)
    policy = spec.get("preemptionPolicy", wanted.preemption_policy)
    if policy != wanted.preemption_policy:
        why = (
            f"the string value of PreemptionPolicy ({policy}) must not be provided in pod spec; "
            f"{computed.format(wanted.preemption_policy)}"
        )
        raise refusals.forbidden(attributes, why)
    if wanted.name:
        spec["priorityClassName"] = wanted.name
    spec["priority"] = wanted.value
    spec["preemptionPolicy"] = wanted.preemption_policy


def _keep(spec: Object, old: Object) -> None:
    """Copy priority and preemptionPolicy from the old pod when an update leaves them out."""
    for name in _KEPT:
        if spec.get(name) is None and old.get(name) is not None:
            spec[name] = old[name]
