"""Resources: validates requests, limits and claims of containers and pods. resource_names.py checks names and amounts.
Pure.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence

from aio_apiserver.registry.base.golang import quantity
from aio_apiserver.registry.base.validation import field, resource_names
from aio_apiserver.registry.base.validation.field import ErrorType, FieldError
from aio_apiserver.registry.groups.core.pods.parts import pod_resources
from aio_apiserver.registry.groups.core.pods.validation import rules
from aio_apiserver.registry.groups.core.pods.validation.options import PodOptions
from aio_apiserver.registry.groups.core.pods.validation.rules import Errors, Obj

_COMPUTE = frozenset({"cpu", "memory"})
_NO_OVERCOMMIT = "Limit must be set for non overcommitable resources"
_MOST_LISTED = 100
_NAMES_OF_CLAIMS = "must be one of the names in pod.spec.resourceClaims"


def validate(
    requirements: Obj,
    path: str,
    *,
    claims: Collection[str] = (),
    options: PodOptions,
    check_name: Callable[[str, str], Errors] = resource_names.validate_container_name,
) -> Errors:
    """The errors of limits, requests and claims. `claims` are the names of the pod's resource claims."""
    limits: Mapping[str, str] = requirements.get("limits") or {}
    requests: Mapping[str, str] = requirements.get("requests") or {}
    errors: Errors = []
    for name, amount in limits.items():
        errors += _validate_amount(name, amount, f"{path}.limits[{name}]", options=options, check_name=check_name)
    for name, amount in requests.items():
        here = f"{path}.requests[{name}]"
        errors += check_name(name, here) + resource_names.validate_amount(name, amount, here)
        if name in limits or name not in _COMPUTE:
            errors += _validate_request(name, amount, limits.get(name), path)
            errors += _validate_pages(name, amount, here, options=options)
    names = {*limits, *requests}
    if names and not names & _COMPUTE and any(map(resource_names.is_huge_pages, names)):
        errors.append(field.forbidden(path, "HugePages require cpu or memory"))
    if requirements.get("claims"):
        errors += validate_claims(requirements["claims"], f"{path}.claims", known=claims)
    return errors


def validate_pod(spec: Obj, path: str, *, claims: Collection[str], options: PodOptions) -> Errors:
    """The errors of the resources of the pod, which have to cover the requests of its containers."""
    resources = spec.get("resources")
    if resources is None:
        return []
    if rules.member(spec, "os").get("name") == "windows":
        return [field.forbidden(path, "may not be set for a windows pod")]
    errors: Errors = []
    if resources.get("claims") is not None or f"{path}.claims" in options.empties:
        errors.append(field.forbidden(f"{path}.claims", "claims may not be set for Resources at pod-level"))
    check_name = resource_names.validate_pod_name
    errors += validate(resources, path, claims=claims, options=options, check_name=check_name)
    return errors + _validate_sums(spec, resources, path) + _validate_single_limits(spec, resources, path)


def _validate_amount(
    name: str, amount: str, path: str, *, options: PodOptions, check_name: Callable[[str, str], Errors]
) -> Errors:
    errors = check_name(name, path) + resource_names.validate_amount(name, amount, path)
    return errors + _validate_pages(name, amount, path, options=options)


def _validate_pages(name: str, amount: str, path: str, *, options: PodOptions) -> Errors:
    if not resource_names.is_huge_pages(name) or options.allows_odd_huge_pages:
        return []
    if resource_names.is_divisible(name, amount):
        return []
    return [field.invalid(path, amount, f"{amount} is not positive integer multiple of {name}")]


def _validate_request(name: str, amount: str, limit: str | None, path: str) -> Errors:
    """The error of a request above its limit. A resource without overcommit needs equal amounts."""
    can_overcommit = resource_names.allows_overcommit(name)
    if limit is None:
        return [] if can_overcommit else [field.required(f"{path}.limits", _NO_OVERCOMMIT)]
    wanted, most = quantity.parse_cached(amount).nanos, quantity.parse_cached(limit).nanos
    if wanted != most and not can_overcommit:
        return [field.invalid(f"{path}.requests", amount, f"must be equal to {name} limit of {limit}")]
    if wanted > most:
        return [field.invalid(f"{path}.requests", amount, f"must be less than or equal to {name} limit of {limit}")]
    return []


def validate_claims(claims: Sequence[Obj], path: str, *, known: Collection[str]) -> Errors:
    """The errors of references to the pod's resource claims, or to single requests in them."""
    errors: Errors = []
    seen: defaultdict[str, set[str]] = defaultdict(set)
    unknown = "" if all(claim.get("name", "") in known for claim in claims) else _NAMES_OF_CLAIMS + _listed(known)
    for index, claim in enumerate(claims):
        name, here = claim.get("name", ""), f"{path}[{index}]"
        if not name:
            errors.append(field.required(here))
            continue
        errors += _validate_claim(name, claim.get("request", ""), here, seen[name])
        if name not in known:
            errors.append(FieldError(ErrorType.NOT_FOUND, here, name, unknown))
    return errors


def _listed(names: Collection[str]) -> str:
    if not names:
        return " which is empty"
    listed = sorted(names)
    # Each error has this list. A long list in many errors would make a huge response.
    return f": {', '.join(listed if len(listed) <= _MOST_LISTED else [*listed[:_MOST_LISTED], '...'])}"


def _validate_claim(name: str, request: str, path: str, seen: set[str]) -> Errors:
    """The errors of one claim, which may be used once as a whole or by distinct requests. `seen` are the earlier
    requests of its name.
    """
    if "" in seen:
        return [field.duplicate(path, name)]
    errors = rules.label(request, f"{path}.request") if request else []
    if request in seen:
        errors.append(field.duplicate(path, f"{name}/{request}"))
    elif not request:
        errors += [field.duplicate(path, name)] * len(seen)
    seen.add(request)
    return errors


def _validate_sums(spec: Obj, resources: Obj, path: str) -> Errors:
    errors: Errors = []
    requests, limits = resources.get("requests") or {}, resources.get("limits") or {}
    for name, total in pod_resources.aggregate(spec, "requests").items():
        if name in requests and total.nanos > quantity.parse_cached(requests[name]).nanos:
            why = f"must be greater than or equal to aggregate container requests of {total}"
            errors.append(field.invalid(f"{path}.requests[{name}]", requests[name], why))
    for name, total in pod_resources.aggregate(spec, "limits").items():
        is_held = resource_names.is_huge_pages(name) and name in limits
        if is_held and total.nanos > quantity.parse_cached(limits[name]).nanos:
            why = f"must be greater than or equal to aggregate container limits of {total}"
            errors.append(field.invalid(f"{path}.limits[{name}]", limits[name], why))
    return errors


def _validate_single_limits(spec: Obj, resources: Obj, path: str) -> Errors:
    errors: Errors = []
    most = resources.get("limits") or {}
    for index, container in enumerate(spec.get("containers") or ()):
        for name, limit in (rules.member(container, "resources").get("limits") or {}).items():
            if name in most and quantity.parse_cached(limit).nanos > quantity.parse_cached(most[name]).nanos:
                why = f"must be less than or equal to pod limits of {most[name]}"
                errors.append(field.invalid(f"{path}.containers[{index}][{name}].limits", limit, why))
    return errors
