"""LimitRanger: checks resources of pods and claims against the LimitRanges of their namespace, and sets defaults for
containers.

Must hold: a pod is checked when it is created or resized, a claim at every write. An object with a deletionTimestamp is
not checked.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import errors, objects
from aio_apiserver.registry.base.golang import quantity
from aio_apiserver.registry.base.golang.quantity import Quantity
from aio_apiserver.registry.generic.admission import refusals
from aio_apiserver.registry.generic.admission.interface import Attributes, Operation, Plugin
from aio_apiserver.registry.generic.lookups import Lookup
from aio_apiserver.registry.groups.core.namespaces.limitranges import LIMITRANGES
from aio_apiserver.registry.groups.core.pods.parts import pod_resources
from aio_apiserver.registry.groups.core.volumes.persistentvolumeclaims import PERSISTENTVOLUMECLAIMS
from aio_apiserver.registry.plugins.admission.pod_writes import PODS
from aio_apiserver.storage.interface import Reader

_LIMIT_RANGES = LIMITRANGES.resource
_CLAIMS = PERSISTENTVOLUMECLAIMS.resource
_ANNOTATION = "kubernetes.io/limit-ranger"
_OF_PODS = ("cpu", "memory")
"""The resources that a pod can specify for all of its containers."""
_MAX_MILLI_VALUE = (2**63 - 1) // 1000
_NOTHING = Quantity(0, 0, quantity.QuantityFormat.DECIMAL)

Limits = Sequence[Mapping[str, Any]]
Amounts = Mapping[str, Quantity]


class LimitRanger(Plugin):
    """Reads LimitRanges at any revision that the cache has."""

    name = "LimitRanger"
    operations = frozenset({Operation.CREATE, Operation.UPDATE})
    resources = frozenset({PODS, _CLAIMS})

    def __init__(self, limit_ranges: Reader) -> None:
        self._ranges: Lookup[Limits] = Lookup(limit_ranges, _LIMIT_RANGES, _limits_of)

    async def mutate(self, attributes: Attributes) -> None:
        if not _is_measured(attributes) or attributes.resource != PODS:
            return
        assert attributes.obj is not None
        for limits in await self._ranges.list(f"{attributes.namespace}/"):
            _default_resources(attributes.obj, limits)

    async def validate(self, attributes: Attributes) -> None:
        if not _is_measured(attributes):
            return
        assert attributes.obj is not None
        broken = _broken_by_pod if attributes.resource == PODS else _broken_by_claim
        for limits in await self._ranges.list(f"{attributes.namespace}/"):
            if reasons := list(broken(attributes.obj["spec"], limits)):
                raise refusals.forbidden(attributes, errors.aggregate(reasons))


def _limits_of(limit_range: Object) -> Limits:
    limits: Limits = objects.get(limit_range, "spec.limits", ())
    return limits


def _is_measured(attributes: Attributes) -> bool:
    if attributes.old is not None and attributes.old["metadata"].get("deletionTimestamp"):
        return False
    if attributes.resource == _CLAIMS:
        return not attributes.subresource
    if attributes.resource != PODS:
        return False
    is_creation = attributes.operation is Operation.CREATE
    return not attributes.subresource if is_creation else attributes.subresource == "resize"


def _default_resources(pod: Object, limits: Limits) -> None:
    """Set the default requests and limits that containers lack, and name them in an annotation of the pod."""
    requests: dict[str, str] = {}
    most: dict[str, str] = {}
    for limit in limits:
        if limit.get("type") == "Container":
            requests |= limit.get("defaultRequest") or {}
            most |= limit.get("default") or {}
    notes = []
    for name, title in (("containers", "container"), ("initContainers", "init container")):
        for container in pod["spec"].get(name) or ():
            resources = container.setdefault("resources", {})
            where = f"for {title} {container.get('name', '')}"
            notes += [f"{added} request {where}" for added in _fill(resources, "requests", requests)]
            notes += [f"{added} limit {where}" for added in _fill(resources, "limits", most)]
    if notes:
        metadata = pod["metadata"]
        note = f"LimitRanger plugin set: {'; '.join(notes)}"
        metadata["annotations"] = {**(metadata.get("annotations") or {}), _ANNOTATION: note}


def _fill(resources: Object, member: str, defaults: Mapping[str, str]) -> list[str]:
    """Set missing resources. Returns their names as one text; nothing when none was missing."""
    given = resources.get(member) or {}
    added = {name: amount for name, amount in defaults.items() if name not in given}
    if not added:
        return []
    resources[member] = {**given, **added}
    return [", ".join(sorted(added))]


def _broken_by_pod(spec: Mapping[str, Any], limits: Limits) -> Iterator[str]:
    for limit in limits:
        if limit.get("type") == "Container":
            for name in ("containers", "initContainers"):
                for container in spec.get(name) or ():
                    resources = container.get("resources") or {}
                    yield from _broken(limit, _amounts(resources, "requests"), _amounts(resources, "limits"))
        elif limit.get("type") == "Pod":
            yield from _broken(limit, _of_pod(spec, "requests"), _of_pod(spec, "limits"))


def _broken_by_claim(spec: Mapping[str, Any], limits: Limits) -> Iterator[str]:
    requests = _amounts(spec.get("resources") or {}, "requests")
    for limit in limits:
        if limit.get("type") != "PersistentVolumeClaim":
            continue
        least, most = _amounts(limit, "min"), _amounts(limit, "max")
        for name, amount in least.items():
            yield from _below("PersistentVolumeClaim", name, amount, requests=requests, limits={})
        for name, amount in most.items():
            yield from _request_above("PersistentVolumeClaim", name, amount, requests=requests)


def _amounts(owner: Mapping[str, Any], member: str) -> Amounts:
    amounts = owner.get(member) or {}
    return {name: quantity.parse_cached(amounts[name]) for name in sorted(amounts)}


def _of_pod(spec: Mapping[str, Any], member: str) -> Amounts:
    """The sum over all containers. Resources at pod level replace the sum."""
    own = _amounts(spec.get("resources") or {}, member)
    return {**pod_resources.aggregate(spec, member), **{name: own[name] for name in _OF_PODS if name in own}}


def _broken(limit: Mapping[str, Any], requests: Amounts, limits: Amounts) -> Iterator[str]:
    kind = limit["type"]
    for name, amount in _amounts(limit, "min").items():
        yield from _below(kind, name, amount, requests=requests, limits=limits)
    for name, amount in _amounts(limit, "max").items():
        yield from _above(kind, name, amount, requests=requests, limits=limits)
    for name, amount in _amounts(limit, "maxLimitRequestRatio").items():
        yield from _too_far_apart(kind, name, amount, requests=requests, limits=limits)


def _below(kind: str, name: str, least: Quantity, *, requests: Amounts, limits: Amounts) -> Iterator[str]:
    request, limit = requests.get(name), limits.get(name)
    rule = f"minimum {name} usage per {kind} is {least}"
    values = _comparable(request, limit, least)
    if request is None:
        yield f"{rule}.  No request is specified"
    elif values[0] < values[2]:
        yield f"{rule}, but request is {request}"
    elif limit is not None and values[1] < values[2]:
        yield f"{rule}, but limit is {limit}"


def _above(kind: str, name: str, most: Quantity, *, requests: Amounts, limits: Amounts) -> Iterator[str]:
    request, limit = requests.get(name), limits.get(name)
    rule = f"maximum {name} usage per {kind} is {most}"
    values = _comparable(request, limit, most)
    if limit is None:
        yield f"{rule}.  No limit is specified"
    elif values[1] > values[2]:
        yield f"{rule}, but limit is {limit}"
    elif request is not None and values[0] > values[2]:
        yield f"{rule}, but request is {request}"


def _request_above(kind: str, name: str, most: Quantity, *, requests: Amounts) -> Iterator[str]:
    request = requests.get(name)
    rule = f"maximum {name} usage per {kind} is {most}"
    values = _comparable(request, None, most)
    if request is None:
        yield f"{rule}.  No request is specified"
    elif values[0] > values[2]:
        yield f"{rule}, but request is {request}"


def _too_far_apart(kind: str, name: str, most: Quantity, *, requests: Amounts, limits: Amounts) -> Iterator[str]:
    rule = f"{name} max limit to request ratio per {kind} is {most}"
    request, limit, _ = _comparable(requests.get(name), limits.get(name), most)
    if not request:
        yield f"{rule}, but no request is specified or request is 0"
    elif not limit:
        yield f"{rule}, but no limit is specified or limit is 0"
    else:
        ratio = limit / request
        is_fine = _whole(most) <= _MAX_MILLI_VALUE
        if ratio * 1000 > _thousandths(most) if is_fine else ratio > _whole(most):
            yield f"{rule}, but provided ratio is {ratio:.6f}"


def _comparable(request: Quantity | None, limit: Quantity | None, enforced: Quantity) -> tuple[int, int, int]:
    """The three amounts as numbers: thousandths, unless one of them is too large for that."""
    amounts = (request or _NOTHING, limit or _NOTHING, enforced)
    count = _thousandths if all(_whole(one) <= _MAX_MILLI_VALUE for one in amounts) else _whole
    return count(amounts[0]), count(amounts[1]), count(amounts[2])


def _whole(amount: Quantity) -> int:
    return -(-amount.nanos // 10**9)


def _thousandths(amount: Quantity) -> int:
    return -(-amount.nanos // 10**6)
