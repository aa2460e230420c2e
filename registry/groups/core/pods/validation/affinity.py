"""Affinity: validates node affinity, pod affinity and pod anti-affinity. Pure."""

from collections.abc import Sequence

from aio_apiserver.registry.base.validation import field, label_selectors, names
from aio_apiserver.registry.groups.core.pods.validation import rules
from aio_apiserver.registry.groups.core.pods.validation.options import PodOptions
from aio_apiserver.registry.groups.core.pods.validation.rules import Errors, Obj

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
OF_PODS = ("podAffinity", "podAntiAffinity")
_WEIGHT = "must be in the range 1-100"
_BAD_OPERATOR = "not a valid selector operator"
_NAME_FIELD = "metadata.name"


def validate(affinity: Obj | None, path: str, *, options: PodOptions) -> Errors:
    """The errors of all affinities of a pod."""
    if affinity is None:
        return []
    errors = _validate_nodes(rules.member(affinity, "nodeAffinity"), f"{path}.nodeAffinity", options=options)
    for kind in OF_PODS:
        errors += _validate_pods(rules.member(affinity, kind), f"{path}.{kind}", options=options)
    return errors


def _validate_nodes(affinity: Obj, path: str, *, options: PodOptions) -> Errors:
    errors: Errors = []
    if affinity.get(REQUIRED) is not None:
        any_value = options.allows_any_node_label_value
        errors += validate_node_selector(affinity[REQUIRED], f"{path}.{REQUIRED}", any_value=any_value)
    for index, term in enumerate(affinity.get(PREFERRED) or ()):
        here = f"{path}.{PREFERRED}[{index}]"
        errors += _validate_weight(term, here)
        # A preferred term may use values that no node label can have.
        errors += _validate_node_term(rules.member(term, "preference"), f"{here}.preference", any_value=True)
    return errors


def _validate_weight(term: Obj, path: str) -> Errors:
    weight = term.get("weight") or 0
    return [] if 1 <= weight <= 100 else [field.invalid(f"{path}.weight", weight, _WEIGHT)]


def validate_node_selector(selector: Obj, path: str, *, any_value: bool = False) -> Errors:
    """The errors of a node selector, of which one term has to match. With `any_value`, values need not be valid label
    values.
    """
    here, terms = f"{path}.nodeSelectorTerms", selector.get("nodeSelectorTerms") or ()
    if not terms:
        return [field.required(here, "must have at least one node selector term")]
    errors: Errors = []
    for index, term in enumerate(terms):
        errors += _validate_node_term(term, f"{here}[{index}]", any_value=any_value)
    return errors


def _validate_node_term(term: Obj, path: str, *, any_value: bool) -> Errors:
    errors: Errors = []
    for index, requirement in enumerate(term.get("matchExpressions") or ()):
        errors += _validate_labels(requirement, f"{path}.matchExpressions[{index}]", any_value=any_value)
    for index, requirement in enumerate(term.get("matchFields") or ()):
        errors += _validate_fields(requirement, f"{path}.matchFields[{index}]")
    return errors


def _validate_labels(requirement: Obj, path: str, *, any_value: bool) -> Errors:
    key, values = requirement.get("key", ""), requirement.get("values") or ()
    errors = _validate_operator(requirement.get("operator", ""), values, path)
    errors += rules.qualified_name(key, f"{path}.key")
    if not any_value:
        for index, value in enumerate(values):
            errors += field.invalid_each(f"{path}.values[{index}]", value, names.check_label_value(value))
    return errors


def _validate_operator(operator: str, values: Sequence[str], path: str) -> Errors:
    here = f"{path}.values"
    match operator:
        case "In" | "NotIn":
            why = "must be specified when `operator` is 'In' or 'NotIn'"
            return [] if values else [field.required(here, why)]
        case "Exists" | "DoesNotExist":
            why = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
            return [field.forbidden(here, why)] if values else []
        case "Gt" | "Lt":
            why = "must be specified single value when `operator` is 'Lt' or 'Gt'"
            return [] if len(values) == 1 else [field.required(here, why)]
        case _:
            return [field.invalid_typed(f"{path}.operator", operator, _BAD_OPERATOR)]


def _validate_fields(requirement: Obj, path: str) -> Errors:
    operator, key = requirement.get("operator", ""), requirement.get("key", "")
    values = requirement.get("values") or ()
    errors: Errors = []
    if operator not in {"In", "NotIn"}:
        errors.append(field.invalid_typed(f"{path}.operator", operator, _BAD_OPERATOR))
    elif len(values) != 1:
        why = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
        errors.append(field.required(f"{path}.values", why))
    if key != _NAME_FIELD:
        return [*errors, field.invalid(f"{path}.key", key, "not a valid field selector key")]
    for index, value in enumerate(values):
        errors += rules.subdomain(value, f"{path}.values[{index}]")
    return errors


def _validate_pods(affinity: Obj, path: str, *, options: PodOptions) -> Errors:
    errors: Errors = []
    for index, term in enumerate(affinity.get(REQUIRED) or ()):
        errors += _validate_pod_term(term, f"{path}.{REQUIRED}[{index}]", options=options)
    for index, weighted in enumerate(affinity.get(PREFERRED) or ()):
        here = f"{path}.{PREFERRED}[{index}]"
        errors += _validate_weight(weighted, here)
        term = rules.member(weighted, "podAffinityTerm")
        errors += _validate_pod_term(term, f"{here}.podAffinityTerm", options=options)
    return errors


def _validate_pod_term(term: Obj, path: str, *, options: PodOptions) -> Errors:
    key, selector = term.get("topologyKey", ""), term.get("labelSelector")
    errors = validate_selectors(term, path, any_value=options.allows_any_value_in_selectors)
    for namespace in term.get("namespaces") or ():
        errors += rules.label(namespace, f"{path}.namespace")
    match, mismatch = term.get("matchLabelKeys") or (), term.get("mismatchLabelKeys") or ()
    errors += validate_label_keys(path, match=match, mismatch=mismatch, selector=selector)
    if not key:
        errors.append(field.required(f"{path}.topologyKey", "can not be empty"))
    return errors + rules.qualified_name(key, f"{path}.topologyKey")


def validate_selectors(term: Obj, path: str, *, any_value: bool) -> Errors:
    """The errors of the labelSelector and the namespaceSelector of a term."""
    errors: Errors = []
    for member in ("labelSelector", "namespaceSelector"):
        if term.get(member) is not None:
            errors += label_selectors.validate(term[member], f"{path}.{member}", allows_invalid_values=any_value)
    return errors


def validate_label_keys(
    path: str, *, match: Sequence[str], mismatch: Sequence[str] = (), selector: Obj | None
) -> Errors:
    """The errors of matchLabelKeys and mismatchLabelKeys: keys that the selector already uses, and keys in both
    lists.
    """
    errors = _validate_keys(match, f"{path}.matchLabelKeys", selector)
    errors += _validate_keys(mismatch, f"{path}.mismatchLabelKeys", selector)
    if selector is not None and match:
        errors += _validate_no_overlap(path, match, selector)
    why, others = "exists in both matchLabelKeys and mismatchLabelKeys", set(mismatch)
    return errors + [
        field.invalid(f"{path}.matchLabelKeys[{index}]", key, why) for index, key in enumerate(match) if key in others
    ]


def _validate_keys(keys: Sequence[str], path: str, selector: Obj | None) -> Errors:
    if keys and selector is None:
        return [field.forbidden(path, "must not be specified when labelSelector is not set")]
    return [error for index, key in enumerate(keys) for error in rules.qualified_name(key, f"{path}[{index}]")]


def _validate_no_overlap(path: str, match: Sequence[str], selector: Obj) -> Errors:
    """Refuse keys that the client's selector also names. The server has already added one expression for each key."""
    errors: Errors = []
    places = {key: index for index, key in enumerate(match)}
    seen = set(selector.get("matchLabels") or {})
    for expression in selector.get("matchExpressions") or ():
        key = expression.get("key", "")
        if key in places and key in seen:
            why = "exists in both matchLabelKeys and labelSelector"
            errors.append(field.invalid(f"{path}[{places[key]}]", key, why))
        seen.add(key)
    return errors
