"""RuntimeClass: sets the overhead and the scheduling constraints of a pod from its RuntimeClass.

Must hold: the overhead of a stored pod is that of its class.
"""

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import errors
from aio_apiserver.registry.base.empties import Empty
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.base.validation import names
from aio_apiserver.registry.generic.admission import refusals
from aio_apiserver.registry.generic.admission.interface import Attributes, Operation, Plugin
from aio_apiserver.registry.generic.lookups import Lookup, as_stored
from aio_apiserver.registry.groups.node.runtimeclasses import RUNTIMECLASSES
from aio_apiserver.registry.plugins.admission.pod_writes import PODS, is_pod
from aio_apiserver.registry.plugins.admission.pods import tolerations
from aio_apiserver.storage.interface import Reader

_CLASSES = RUNTIMECLASSES.resource
_NO_OVERHEAD = Empty(("spec", "overhead"), is_map=True)
_MISMATCH = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"
_UNFOUNDED = "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"


class RuntimeClass(Plugin):
    """Reads runtime classes through a cached lookup."""

    name = "RuntimeClass"
    operations = frozenset({Operation.CREATE})
    resources = frozenset({PODS})

    def __init__(self, classes: Reader) -> None:
        self._classes = Lookup(classes, _CLASSES, as_stored)

    async def mutate(self, attributes: Attributes) -> None:
        if not is_pod(attributes):
            return
        runtime_class = await self._class_of(attributes)
        if runtime_class is None:
            return
        _set_overhead(attributes, runtime_class)
        _set_scheduling(attributes, runtime_class.get("scheduling"))

    async def validate(self, attributes: Attributes) -> None:
        if not is_pod(attributes):
            return
        assert attributes.obj is not None
        runtime_class = await self._class_of(attributes)
        overhead = attributes.obj["spec"].get("overhead")
        defined = (runtime_class or {}).get("overhead")
        if defined is None and (overhead or _NO_OVERHEAD in attributes.empties):
            raise refusals.forbidden(attributes, _UNFOUNDED)
        if defined is not None and (defined.get("podFixed") or {}) != (overhead or {}):
            raise refusals.forbidden(attributes, _MISMATCH)

    async def _class_of(self, attributes: Attributes) -> Object | None:
        assert attributes.obj is not None
        name = attributes.obj["spec"].get("runtimeClassName")
        if name is None:
            return None
        _check_name(name)
        runtime_class = await self._classes.get(name)
        if runtime_class is None:
            raise refusals.forbidden(attributes, f"pod rejected: RuntimeClass {quote(name)} not found")
        return runtime_class


def _check_name(name: str) -> None:
    """Raise the error of client-go for a name that no object can have."""
    if not name:
        raise errors.StatusError("resource name may not be empty")
    if wrong := names.is_path_segment(name, False):
        raise errors.StatusError(f"invalid resource name {quote(name)}: [{' '.join(wrong)}]")


def _set_overhead(attributes: Attributes, runtime_class: Object) -> None:
    assert attributes.obj is not None
    spec, defined = attributes.obj["spec"], runtime_class.get("overhead")
    if defined is None:
        return
    fixed = defined.get("podFixed") or {}
    if spec.get("overhead") and spec["overhead"] != fixed:
        raise refusals.forbidden(attributes, _MISMATCH)
    if fixed:
        spec["overhead"] = dict(fixed)


def _set_scheduling(attributes: Attributes, scheduling: Object | None) -> None:
    """Merge the node selector and the tolerations of the class into the pod."""
    assert attributes.obj is not None
    if scheduling is None:
        return
    spec = attributes.obj["spec"]
    wanted, given = scheduling.get("nodeSelector") or {}, spec.get("nodeSelector") or {}
    for key in sorted(wanted):
        if given.get(key, wanted[key]) != wanted[key]:
            label = f"nodeSelector[{key}]"
            why = f"conflict: runtimeClass.scheduling.{label} = {wanted[key]}; pod.spec.{label} = {given[key]}"
            raise refusals.forbidden(attributes, why)
    if wanted or given:
        spec["nodeSelector"] = {**given, **wanted}
    merged = tolerations.merge(spec.get("tolerations") or (), scheduling.get("tolerations") or ())
    if merged:
        spec["tolerations"] = [dict(one) for one in merged]
