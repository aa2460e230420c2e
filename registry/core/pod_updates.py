"""What an update of a pod may change: images, its deadline, fewer gates, more tolerations; almost nothing else.

While gates hold a pod, its node selector and node affinity are still open. Must hold: both specs are in canonical form.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from registry.validation import field
from registry.validation.field import FieldError

_FROZEN = (
    "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,"
    "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
)
_OPEN = ("activeDeadlineSeconds", "schedulingGates", "tolerations")
_OPEN_WHILE_GATED = ("nodeSelector", "affinity")
_CONTAINERS = ("containers", "initContainers")


def validate(new: Mapping[str, Any], old: Mapping[str, Any]) -> list[FieldError]:
    """The errors of a changed spec."""
    for name in _CONTAINERS:
        if len(new.get(name) or ()) != len(old.get(name) or ()):
            return [field.forbidden(f"spec.{name}", "pod updates may not add or remove containers")]
    errors = _validate_deadline(new.get("activeDeadlineSeconds"), old.get("activeDeadlineSeconds"))
    errors += _validate_tolerations(new.get("tolerations") or (), old.get("tolerations") or ())
    errors += _validate_gates(new.get("schedulingGates") or (), old.get("schedulingGates") or ())
    is_gated = bool(old.get("schedulingGates"))
    if _frozen(new, old, is_gated=is_gated) != _frozen(old, old, is_gated=is_gated):
        errors.append(field.forbidden("spec", _FROZEN))
    return errors


def _validate_deadline(new: int | None, old: int | None) -> list[FieldError]:
    path = "spec.activeDeadlineSeconds"
    if old is None or new == old:
        return []
    if new is None:
        return [field.invalid(path, None, "must not update from a positive integer to nil value")]
    return [field.invalid(path, new, "must be less than or equal to previous value")] if new > old else []


def _validate_tolerations(new: Sequence[Mapping[str, Any]], old: Sequence[Mapping[str, Any]]) -> list[FieldError]:
    kept = [_without_seconds(one) for one in new]
    if all(_without_seconds(one) in kept for one in old):
        return []
    why = "existing toleration can not be modified except its tolerationSeconds"
    return [field.forbidden("spec.tolerations", why)]


def _without_seconds(toleration: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in toleration.items() if name != "tolerationSeconds"}


def _validate_gates(new: Sequence[Mapping[str, Any]], old: Sequence[Mapping[str, Any]]) -> list[FieldError]:
    known = {gate["name"] for gate in old}
    why = "only deletion is allowed, but found new scheduling gate '{}'"
    return [
        field.forbidden(f"spec.schedulingGates[{index}].name", why.format(gate["name"]))
        for index, gate in enumerate(new)
        if gate["name"] not in known
    ]


def _frozen(spec: Mapping[str, Any], old: Mapping[str, Any], *, is_gated: bool) -> dict[str, Any]:
    """What may not change, with the old grace where the change of it is allowed."""
    is_open = {*_OPEN, *(_OPEN_WHILE_GATED if is_gated else ())}
    frozen = {name: value for name, value in spec.items() if name not in is_open}
    for name in _CONTAINERS:
        frozen[name] = [{**container, "image": ""} for container in spec.get(name) or ()]
    grace = "terminationGracePeriodSeconds"
    if (old.get(grace) or 0) < 0 and spec.get(grace) == 1:
        frozen[grace] = old[grace]
    return frozen
