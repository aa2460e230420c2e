"""Updates: validates an update of a pod. It may change images and tolerations, shorten the deadline and remove gates.

A pod with scheduling gates may also get further requirements on its node. Pure. Must hold: both specs are in canonical
form.
"""

from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any

from aio_apiserver.registry.base.golang import quantity
from aio_apiserver.registry.base.timeline import DEFAULT, Version
from aio_apiserver.registry.base.validation import differences, field, internal
from aio_apiserver.registry.groups.core.pods.validation import affinity, containers, rules, scheduling
from aio_apiserver.registry.groups.core.pods.validation.rules import Errors, Obj

_FROZEN = (
    "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,"
    "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
)
_OPEN = ("activeDeadlineSeconds", "schedulingGates", "tolerations")
_CONTAINERS = ("containers", "initContainers")
_GRACE = "terminationGracePeriodSeconds"
_MAX_INT32 = 2**31 - 1
_NODE = "nodeAffinity"


def validate(new: Obj, old: Obj, version: Version = DEFAULT) -> Errors:
    """The errors of a changed spec."""
    errors: Errors = []
    for name in _CONTAINERS:
        found, is_over = _validate_containers(new.get(name) or (), old.get(name) or (), f"spec.{name}")
        errors += found
        if is_over:
            return errors
    found, is_over = _validate_deadline(new.get("activeDeadlineSeconds"), old.get("activeDeadlineSeconds"))
    errors += found
    if is_over:
        return errors
    errors += _validate_tolerations(new.get("tolerations") or (), old.get("tolerations") or (), "spec.tolerations")
    errors += _validate_gates(new.get("schedulingGates") or (), old.get("schedulingGates") or ())
    return errors if new == old else errors + _validate_rest(new, old, version)


def _validate_containers(new: Sequence[Obj], old: Sequence[Obj], path: str) -> tuple[Errors, bool]:
    if len(new) != len(old):
        return [field.forbidden(path, "pod updates may not add or remove containers")], True
    errors: Errors = []
    for index, container in enumerate(new):
        errors += rules.required(container, f"{path}[{index}]", "image")
        errors += containers.validate_image(container, f"{path}[{index}]")
    return errors, False


def _validate_deadline(new: int | None, old: int | None) -> tuple[Errors, bool]:
    """The errors of activeDeadlineSeconds, which may be set and shortened; and whether validation ends with this
    error.
    """
    path = "spec.activeDeadlineSeconds"
    if new is None:
        is_gone = old is not None
        why = "must not update from a positive integer to nil value"
        return ([field.invalid(path, None, why)] if is_gone else []), False
    if not 0 <= new <= _MAX_INT32:
        return [field.invalid(path, new, f"must be between 0 and {_MAX_INT32}, inclusive")], True
    if old is not None and old < new:
        return [field.invalid(path, new, "must be less than or equal to previous value")], True
    return [], False


def _validate_tolerations(new: Sequence[Obj], old: Sequence[Obj], path: str) -> Errors:
    if not set(map(_without_seconds, old)) <= set(map(_without_seconds, new)):
        return [field.forbidden(path, "existing toleration can not be modified except its tolerationSeconds")]
    return scheduling.validate_tolerations(new, path)


def _without_seconds(toleration: Obj) -> frozenset[tuple[str, Any]]:
    return frozenset((name, value) for name, value in toleration.items() if name != "tolerationSeconds")


def _validate_gates(new: Sequence[Obj], old: Sequence[Obj]) -> Errors:
    """The errors for added scheduling gates. Of a gate that is there twice, the last index is reported."""
    known = {gate["name"] for gate in old}
    added = {gate["name"]: index for index, gate in enumerate(new) if gate["name"] not in known}
    why = "only deletion is allowed, but found new scheduling gate '{}'"
    return [
        field.forbidden(f"spec.schedulingGates[{index}].name", why.format(name))
        for name, index in sorted(added.items(), key=itemgetter(1))
    ]


def _validate_rest(new: Obj, old: Obj, version: Version) -> Errors:
    """The error for any other change. A gated pod may tighten its node selector and node affinity."""
    settled = _with_open_fields_of(new, old)
    errors: Errors = []
    if old.get("schedulingGates"):
        errors += _validate_node_selector(new.get("nodeSelector"), old.get("nodeSelector") or {})
        errors += _validate_node_affinity(new.get("affinity"), old.get("affinity"))
        _take_over_node_demands(settled, old)
    if not is_same_spec(settled, old):
        errors.append(field.forbidden("spec", f"{_FROZEN}\n{difference('core.PodSpec', old, settled, version)}"))
    return errors


def _with_open_fields_of(new: Obj, old: Obj) -> dict[str, Any]:
    """The new spec with the old values of the fields that may change."""
    settled = {name: value for name, value in new.items() if name not in _OPEN and name not in _CONTAINERS}
    settled |= {name: old[name] for name in _OPEN if name in old}
    for name in _CONTAINERS:
        if new.get(name):
            pairs = zip(new[name], old[name], strict=True)
            settled[name] = [{**container, "image": before.get("image", "")} for container, before in pairs]
    if (old.get(_GRACE) or 0) < 0 and new.get(_GRACE) == 1:
        settled[_GRACE] = old[_GRACE]
    return settled


def _validate_node_selector(new: Mapping[str, str] | None, old: Mapping[str, str]) -> Errors:
    if all((new or {}).get(name) == value for name, value in old.items()):
        return []
    why = "only additions to spec.nodeSelector are allowed (no mutations or deletions)"
    return [field.invalid("spec.nodeSelector", internal.meta(new), why)]


def _validate_node_affinity(new: Obj | None, old: Obj | None) -> Errors:
    before, given = _required_terms(old) or (), _required_terms(new)
    after = given or ()
    path = f"spec.affinity.{_NODE}.{affinity.REQUIRED}.nodeSelectorTerms"
    if before and len(before) != len(after):
        why = "no additions/deletions to non-empty NodeSelectorTerms list are allowed"
        return [field.invalid(path, None if given is None else [_internal(term) for term in given], why)]
    why = "only additions are allowed (no mutations or deletions)"
    return [
        field.invalid(f"{path}[{index}]", _internal(after[index]), why)
        for index, term in enumerate(before)
        if not _only_adds(after[index], term)
    ]


def _required_terms(of: Obj | None) -> Sequence[Obj] | None:
    required = rules.member(rules.member(of, _NODE), affinity.REQUIRED)
    terms: Sequence[Obj] | None = required.get("nodeSelectorTerms")
    return terms


def _internal(term: Obj) -> Any:
    return internal.form("core.NodeSelectorTerm", term)


def _only_adds(new: Obj, old: Obj) -> bool:
    """Whether a term only gains requirements. An empty term matches nothing and has to stay empty."""
    members = ("matchExpressions", "matchFields")
    if not any(old.get(name) for name in members):
        return not any(new.get(name) for name in members)
    return all((new.get(name) or [])[: len(old.get(name) or ())] == (old.get(name) or []) for name in members)


def _take_over_node_demands(settled: dict[str, Any], old: Obj) -> None:
    """Replace the new node selector and node affinity by the old ones."""
    settled.pop("nodeSelector", None)
    if "nodeSelector" in old:
        settled["nodeSelector"] = old["nodeSelector"]
    before = rules.member(old, "affinity").get(_NODE)
    if before == rules.member(settled, "affinity").get(_NODE):
        return
    others = {name: value for name, value in (settled.get("affinity") or {}).items() if name != _NODE}
    if before is not None:
        others[_NODE] = before
    if others or old.get("affinity") is not None:
        settled["affinity"] = others
    else:
        settled.pop("affinity", None)


def is_same_spec(one: Obj, other: Obj) -> bool:
    """Whether two pod specs are equal. Quantities are compared by value."""
    return is_same("core.PodSpec", one, other)


def is_same(struct: str, one: Any, other: Any) -> bool:
    """Whether two parts of specs are equal. Quantities are compared by value, and empty equals missing."""
    return one == other or bool(_settled(internal.form(struct, one)) == _settled(internal.form(struct, other)))


_AMOUNTS = frozenset({"Limits", "Requests", "Overhead"})
_SELECTORS = frozenset({"LabelSelector", "NamespaceSelector", "Selector"})
"""Selectors that differ when they are empty or missing: an empty one matches everything, a missing one nothing."""


def _settled(value: Any, name: str = "") -> Any:
    if isinstance(value, dict):
        if name in _AMOUNTS:
            return {key: quantity.parse_cached(amount).nanos for key, amount in value.items()} or None
        return {key: _settled(one, key) for key, one in value.items()} or (value if name in _SELECTORS else None)
    if isinstance(value, list):
        return [_settled(one) for one in value] or None
    return value


def difference(struct: str, old: Any, new: Any, version: Version = DEFAULT) -> str:
    """The difference between two values, as a unified diff of the forms that they have in a minor."""
    return differences.unified(internal.form(struct, old, version), internal.form(struct, new, version))
