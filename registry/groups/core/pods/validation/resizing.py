"""Resizing: validates pods/resize, which changes the CPU and memory of a pod and its containers, but removes no
amounts.

Pure. Must hold: the QoS class stays, and containers keep their order and names.
"""

from collections.abc import Mapping
from typing import Any

from aio_apiserver.registry.base.validation import field
from aio_apiserver.registry.groups.core.pods.parts import pod_resources
from aio_apiserver.registry.groups.core.pods.validation import pod, restarts, rules, updates
from aio_apiserver.registry.groups.core.pods.validation.options import PodOptions
from aio_apiserver.registry.groups.core.pods.validation.rules import Errors, Obj
from aio_apiserver.registry.groups.core.pods.validation.scheduling import MIRROR

_ONLY_COMPUTE = "only cpu and memory resources are mutable"
_COMPUTE = ("cpu", "memory")
_MEMBERS = ("limits", "requests")


def validate(new: Obj, old: Obj, found: Errors, *, options: PodOptions) -> Errors:
    """The errors of a resize. `found` are those of the metadata, which come first."""
    errors = found + pod.validate(new, options=options)
    before, after = old["spec"], new["spec"]
    if MIRROR in (old["metadata"].get("annotations") or {}):
        return [field.forbidden("[]", "static pods cannot be resized")]
    if rules.member(before, "os").get("name") == "windows":
        return [field.forbidden("[]", "windows pods cannot be resized")]
    quality = rules.member(old, "status").get("qosClass") or pod_resources.qos_class(before)
    if quality != pod_resources.qos_class(after):
        shown = rules.member(new, "status").get("qosClass", "")
        errors.append(field.invalid("spec", shown, "Pod QOS Class may not change as a result of resizing"))
    if not _is_supported(rules.member(old, "status")):
        errors.append(field.forbidden("spec", "Pod running on node without support for resize"))
    settled = dict(after)
    if _has_own(before) or _has_own(after):
        of_pod, settled = _validate_own(settled, before)
        errors += of_pod
    wrong_order = _validate_order(after, before)
    return errors + (wrong_order or _validate_containers(settled, before, is_valid=not errors))


def _is_supported(status: Obj) -> bool:
    """Whether the kubelet reports container resources. Before a container runs, the answer is yes."""
    for container in status.get("containerStatuses") or ():
        if rules.member(container, "state").get("running") is not None:
            return container.get("resources") is not None
    return True


def _has_own(spec: Obj) -> bool:
    resources = rules.member(spec, "resources")
    return any(resources.get(member) for member in _MEMBERS)


def _validate_own(new: dict[str, Any], old: Obj) -> tuple[Errors, dict[str, Any]]:
    """The errors of the resources of the pod, and the spec with the old CPU and memory of the pod."""
    before, after = old.get("resources"), new.get("resources")
    if before is not None and after is None:
        return [field.forbidden("spec.resources", "pod-level resources cannot be removed")], new
    errors = [
        field.forbidden(f"spec.resources.{member}", f"pod-level resource {member} cannot be removed")
        for member in ("requests", "limits")
        if _is_removed(after or {}, before or {}, member)
    ]
    settled = _with_own_of(new, before)
    if not updates.is_same("core.ResourceRequirements", settled.get("resources"), before):
        errors.append(field.forbidden("spec", f"{_ONLY_COMPUTE} at pod-level"))
    return errors, settled


def _is_removed(new: Obj, old: Obj, member: str) -> bool:
    return not set(old.get(member) or ()) <= set(new.get(member) or ())


def _with_own_of(settled: dict[str, Any], old: Obj | None) -> dict[str, Any]:
    resources = settled.get("resources")
    if resources is None:
        return settled
    kept = _with_compute_of(resources, old or {})
    if old is None and not any(kept.values()):
        return {name: value for name, value in settled.items() if name != "resources"}
    return {**settled, "resources": kept}


def _with_compute_of(resources: Obj, old: Obj) -> dict[str, Any]:
    kept = dict(resources)
    for member in _MEMBERS:
        others = {name: amount for name, amount in (resources.get(member) or {}).items() if name not in _COMPUTE}
        others |= {name: amount for name, amount in (old.get(member) or {}).items() if name in _COMPUTE}
        kept[member] = others
    return kept


def _validate_order(new: Obj, old: Obj) -> Errors:
    errors: Errors = []
    for members in ("containers", "initContainers"):
        before, after, path = old.get(members) or (), new.get(members) or (), f"spec.{members}"
        if len(before) != len(after):
            errors.append(field.forbidden(path, f"{members} may not be added or removed on resize"))
            continue
        why = f"{members} may not be renamed or reordered on resize"
        errors += [
            field.forbidden(f"{path}[{index}].name", why)
            for index, (one, other) in enumerate(zip(after, before, strict=True))
            if one.get("name") != other.get("name")
        ]
    return errors


def _validate_containers(settled: dict[str, Any], old: Obj, *, is_valid: bool) -> Errors:
    """The errors for removed amounts and for other changes. `settled` has the old resources of the pod."""
    errors: Errors = []
    for members in ("initContainers", "containers"):
        for index, container in enumerate(settled.get(members) or ()):
            here = f"spec.{members}[{index}].resources"
            before, after = (rules.member(one, "resources") for one in (old[members][index], container))
            for member in ("requests", "limits"):
                if _is_removed(after, before, member):
                    errors.append(field.forbidden(f"{here}.{member}", f"resource {member} cannot be removed"))
    for members in ("containers", "initContainers"):
        if settled.get(members):
            errors += _validate_settled(settled, old, members)
    if is_valid and not errors and not updates.is_same_spec(settled, old):
        errors.append(field.forbidden("spec", _ONLY_COMPUTE))
    return errors


def _validate_settled(settled: dict[str, Any], old: Obj, members: str) -> Errors:
    """The errors of one list of containers. `settled` then has the old CPU and memory of these containers."""
    errors: Errors = []
    is_initial = members == "initContainers"
    kept: list[Mapping[str, Any]] = []
    for index, container in enumerate(settled[members]):
        before, here = old[members][index], f"spec.{members}[{index}]"
        is_modified = not _is_same(container, before)
        # As in kube-apiserver, claims are dropped before the comparison, so a container that had claims counts as
        # changed.
        resources = _with_compute_of(rules.member(container, "resources"), rules.member(before, "resources"))
        resources.pop("claims", None)
        one = {**container, "resources": resources}
        kept.append(one)
        if not _is_same(one, before):
            place, why = (
                (here, "only cpu and memory resources for init or sidecar containers are mutable")
                if is_initial
                else ("spec", _ONLY_COMPUTE)
            )
            errors.append(field.forbidden(place, why))
        if is_initial and is_modified and not restarts.is_sidecar(container):
            errors += _validate_policies(container, here)
    settled[members] = kept
    return errors


def _validate_policies(container: Obj, path: str) -> Errors:
    why = "non-sidecar init containers with a resize policy of RestartContainer cannot be resized"
    return [
        field.forbidden(path, why)
        for policy in container.get("resizePolicy") or ()
        if policy.get("restartPolicy") == "RestartContainer"
    ]


def _is_same(one: Obj, other: Obj) -> bool:
    return updates.is_same("core.Container", one, other)
