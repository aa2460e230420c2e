"""Status: validates the reported status of a pod: conditions, addresses, claims, users, device health.

Pure. transitions.py validates the restarts of containers.
"""

from collections.abc import Collection, Mapping, Sequence

from aio_apiserver.registry.base.validation import addresses, field, internal, object_meta
from aio_apiserver.registry.groups.core.pods.validation import pod, rules, transitions
from aio_apiserver.registry.groups.core.pods.validation.options import PodOptions
from aio_apiserver.registry.groups.core.pods.validation.rules import Errors, Obj

_SYSTEM_CONDITIONS = frozenset({"PodScheduled", "Ready", "Initialized"})
_NOT_NEGATIVE = "must be a non-negative integer"
_ONE_OF_EACH_FAMILY = "may specify no more than one IP for each IP family"
_STATUSES = {
    "containerStatuses": "containers",
    "initContainerStatuses": "initContainers",
    "ephemeralContainerStatuses": "ephemeralContainers",
}
"""Each list of container statuses, with its list of containers."""
_HEALTH = ("Healthy", "Unhealthy", "Unknown")
_LONGEST_MESSAGE = 1024
_CLAIM = "claim:"


def validate(new: Obj, old: Obj, *, options: PodOptions) -> Errors:
    """The errors of a reported status, without the common errors of metadata."""
    status, spec = new.get("status") or {}, new["spec"]
    errors = pod.validate_annotations(new, old, options=options)
    errors += _validate_conditions(status.get("conditions") or (), "status.conditions")
    errors += _validate_nomination(status, old)
    if status.get("observedGeneration", 0) < 0:
        errors.append(field.invalid("status.observedGeneration", status["observedGeneration"], _NOT_NEGATIVE))
    before = old.get("status") or {}
    if status.get("qosClass", "") != before.get("qosClass", ""):
        errors.append(field.invalid("status.qosClass", status.get("qosClass", ""), object_meta.IMMUTABLE))
    errors += transitions.validate(status, before, old["spec"])
    errors += _validate_claims(status.get("resourceClaimStatuses") or (), spec)
    errors += _validate_extended_claim(status.get("extendedResourceClaimStatus"), spec)
    errors += _validate_pod_ips(status, before) + _validate_host_ips(status, before)
    for name in _STATUSES:
        errors += _validate_users(status.get(name) or (), f"status.{name}", spec)
    return errors + _validate_allocated(status, spec)


def _validate_conditions(conditions: Sequence[Obj], path: str) -> Errors:
    errors: Errors = []
    for index, condition in enumerate(conditions):
        generation, kind = condition.get("observedGeneration", 0), condition.get("type", "")
        if generation < 0:
            errors.append(field.invalid(f"{path}[{index}].observedGeneration", generation, _NOT_NEGATIVE))
        if kind not in _SYSTEM_CONDITIONS:
            errors += rules.qualified_name(kind, f"{path}[{index}].Type")
    return errors


def _validate_nomination(status: Obj, old: Obj) -> Errors:
    """The errors of nominatedNodeName, which a pod without a node may have."""
    nominated, path = status.get("nominatedNodeName", ""), "status.nominatedNodeName"
    if not nominated or nominated == rules.member(old, "status").get("nominatedNodeName", ""):
        return []
    errors = rules.subdomain(nominated, path)
    if old["spec"].get("nodeName"):
        errors.append(field.forbidden(path, "may not be set on pods that are already bound to a node"))
    return errors


def _validate_claims(statuses: Sequence[Obj], spec: Obj) -> Errors:
    errors: Errors = []
    known = {claim.get("name") for claim in spec.get("resourceClaims") or ()}
    seen: set[str] = set()
    for index, status in enumerate(statuses):
        name, here = status.get("name", ""), f"status.resourceClaimStatuses[{index}]"
        if name not in known:
            why = "must match the name of an entry in `spec.resourceClaims`"
            errors.append(field.invalid(f"{here}.name", name, why))
        if name in seen:
            errors.append(field.duplicate(f"{here}.name", name))
        seen.add(name)
        if status.get("resourceClaimName") is not None:
            errors += rules.subdomain(status["resourceClaimName"], f"{here}.resourceClaimName")
    return errors


def _validate_extended_claim(status: Obj | None, spec: Obj) -> Errors:
    """The errors of the status of the claim for extended resources."""
    if status is None:
        return []
    path = "status.extendedResourceClaimStatus"
    mappings = status.get("requestMappings") or ()
    errors: Errors = []
    if not mappings:
        errors.append(field.required(f"{path}.requestMappings", "at least one request mapping is required"))
    requests = {
        container.get("name", ""): rules.member(container, "resources").get("requests") or {}
        for member in ("initContainers", "containers")
        for container in spec.get(member) or ()
    }
    seen: set[tuple[str, str, str]] = set()
    for index, mapping in enumerate(mappings):
        errors += _validate_mapping(mapping, f"{path}.requestMappings[{index}]", path, requests=requests, seen=seen)
    name = status.get("resourceClaimName", "")
    here = f"{path}.resourceClaimName"
    return errors + (rules.subdomain(name, here) if name else [field.required(here)])


def _validate_mapping(
    mapping: Obj,
    here: str,
    path: str,
    *,
    requests: Mapping[str, Collection[str]],
    seen: set[tuple[str, str, str]],
) -> Errors:
    members = ("containerName", "resourceName", "requestName")
    container, resource, request = (mapping.get(member, "") for member in members)
    errors: Errors = []
    if container not in requests:
        why = "must match the name of an entry in spec.initContainers.name or spec.containers.name"
        errors.append(field.invalid(f"{here}.containerName", container, why))
    elif resource not in requests[container]:
        why = (
            "must match the extended resource name of an entry in spec.initContainers.resources.requests or "
            "spec.containers.resources.requests"
        )
        errors.append(field.invalid(f"{here}.resourceName", resource, why))
    errors += rules.label(request, f"{path}.requestName")
    if (container, resource, request) in seen:
        errors += [field.duplicate(f"{here}.{member}", mapping.get(member, "")) for member in members]
    seen.add((container, resource, request))
    return errors


def _validate_pod_ips(status: Obj, old: Obj) -> Errors:
    return _validate_ips(status.get("podIPs") or (), old.get("podIPs") or (), "status.podIPs", struct="core.PodIP")


def _validate_host_ips(status: Obj, old: Obj) -> Errors:
    ips, path = status.get("hostIPs") or (), "status.hostIPs"
    if not ips:
        return []
    errors: Errors = []
    first = ips[0].get("ip", "")
    if status.get("hostIP", "") != first:
        errors.append(field.invalid(f"{path}[0].ip", first, "must be equal to `hostIP`"))
    return errors + _validate_ips(ips, old.get("hostIPs") or (), path, struct="core.HostIP")


def _validate_ips(ips: Sequence[Obj], old: Sequence[Obj], path: str, *, struct: str) -> Errors:
    """The errors of a list of addresses, at most one for each family. Addresses of the old status stay valid."""
    texts, known = [one.get("ip", "") for one in ips], [one.get("ip", "") for one in old]
    errors: Errors = []
    for index, text in enumerate(texts):
        errors += addresses.validate_legacy(text, f"{path}[{index}]", known)
    if len(texts) < 2:
        return errors
    wrong = next((index for index, text in enumerate(texts) if addresses.parse(text) is None), None)
    if wrong is not None:
        why = f"failed to check for dual stack with error:invalid IP[{wrong}]: {texts[wrong]}"
        errors.append(field.internal(path, why))
    families = {addresses.is_v6(text) for text in texts}
    if wrong is not None or len(families) < 2 or len(texts) > 2:
        shown = [internal.form(struct, one) for one in ips]
        errors.append(field.invalid(path, shown, _ONE_OF_EACH_FAMILY))
    return errors


def _validate_users(statuses: Sequence[Obj], path: str, spec: Obj) -> Errors:
    """The errors of the users in container statuses. Windows pods cannot have them."""
    errors: Errors = []
    system = rules.member(spec, "os").get("name", "linux")
    for index, status in enumerate(statuses):
        user = rules.member(status, "user").get("linux")
        if user is None:
            continue
        here = f"{path}[{index}].user.linux"
        if system == "windows":
            errors.append(field.forbidden(here, "cannot be set for a windows pod"))
        elif system == "linux":
            for member in ("uid", "gid"):
                errors += rules.identity_number(user.get(member, 0), f"{here}.{member}")
            for number, group in enumerate(user.get("supplementalGroups") or ()):
                errors += rules.identity_number(group, f"{here}.supplementalGroups[{number}]")
    return errors


def _validate_allocated(status: Obj, spec: Obj) -> Errors:
    """The errors of device health in container statuses. Ephemeral containers cannot have it."""
    errors: Errors = []
    for name, containers in _STATUSES.items():
        known = {container.get("name", ""): container for container in spec.get(containers) or ()}
        for index, one in enumerate(status.get(name) or ()):
            allocated, here = one.get("allocatedResourcesStatus") or (), f"status.{name}[{index}]"
            if allocated and containers == "ephemeralContainers":
                why = "must not be specified in container status"
                errors.append(field.forbidden(f"{here}.allocatedResourcesStatus", why))
                continue
            for number, resource in enumerate(allocated):
                place = f"{here}.allocatedResourcesStatus[{number}]"
                errors += _validate_device(resource, place, container=known.get(one.get("name", "")))
    return errors


def _validate_device(resource: Obj, path: str, *, container: Obj | None) -> Errors:
    errors = [] if container is None else _validate_owner(resource.get("name", ""), f"{path}.name", container)
    seen: set[str] = set()
    for index, one in enumerate(resource.get("resources") or ()):
        here, device = f"{path}.resources[{index}]", one.get("resourceID", "")
        if one.get("health", "") not in _HEALTH:
            errors.append(field.not_supported(f"{here}.health", one.get("health", ""), _HEALTH))
        message = one.get("message")
        if message is not None and not message:
            errors.append(field.required(f"{here}.message", "must be non-empty if specified"))
        elif message is not None and len(message.encode()) > _LONGEST_MESSAGE:
            errors.append(field.too_long(f"{here}.message", _LONGEST_MESSAGE))
        if device in seen:
            errors.append(field.duplicate(f"{here}.resourceID", device))
        seen.add(device)
    return errors


def _validate_owner(name: str, path: str, container: Obj) -> Errors:
    """The error for a device that the container has not requested."""
    resources = rules.member(container, "resources")
    if not name.startswith(_CLAIM):
        is_asked = name in (resources.get("requests") or {})
        why = "must match one of the container's resource requests"
        return [] if is_asked else [field.invalid(path, name, why)]
    claims = {
        f"{_CLAIM}{claim.get('name', '')}" + (f"/{claim['request']}" if claim.get("request") else "")
        for claim in resources.get("claims") or ()
    }
    why = (
        "must match one of the container's resource claims in a format 'claim:<claimName>/<request>' "
        "or 'claim:<claimName>' if request is empty"
    )
    return [] if name in claims else [field.invalid(path, name, why)]
