"""Spec: validates the spec of a pod or a pod template, all fields in the order of kube-apiserver's errors. Pure."""

from collections.abc import Mapping
from typing import Any

from aio_apiserver.registry.base.validation import field, object_meta
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.groups.core.pods.validation import (
    affinity,
    containers,
    environment,
    network,
    resources,
    rules,
    scheduling,
    security,
    volumes,
    windows,
)
from aio_apiserver.registry.groups.core.pods.validation.containers import Surroundings
from aio_apiserver.registry.groups.core.pods.validation.options import PodOptions
from aio_apiserver.registry.groups.core.pods.validation.rules import Errors, Obj

_RESTART_POLICIES = ("Always", "OnFailure", "Never")
_PREEMPTION_POLICIES = ("PreemptLowerPriority", "Never")
_GRACE = "terminationGracePeriodSeconds"
_MAX_INT32 = 2**31 - 1


def validate_pod_spec(
    spec: Mapping[str, Any], metadata: Mapping[str, Any] | None, path: str, *, options: PodOptions
) -> list[FieldError]:
    """The errors of a pod spec at `path`. `metadata` is the metadata of the pod, None for a template."""
    errors = [] if spec.get(_GRACE) is not None else [field.required(f"{path}.{_GRACE}")]
    errors += _validate_parts(spec, metadata, path, options=options)
    if spec.get("hostNetwork"):
        errors += network.validate_host_network(spec, path, options=options)
    errors += rules.required_word(spec, path, "restartPolicy", _RESTART_POLICIES)
    errors += rules.required_word(spec, path, "dnsPolicy", network.DNS_POLICIES)
    if spec.get("nodeSelector"):
        errors += object_meta.validate_labels(spec["nodeSelector"], f"{path}.nodeSelector")
    errors += security.validate_pod(spec, f"{path}.securityContext", options=options)
    if spec.get("affinity") is not None:
        errors += affinity.validate(spec["affinity"], f"{path}.affinity", options=options)
    errors += network.validate_dns(spec.get("dnsConfig"), spec.get("dnsPolicy", ""), f"{path}.dnsConfig")
    errors += _validate_scheduling(spec, path, options=options)
    errors += windows.validate_host_process(spec, path, options=options)
    if spec.get("hostUsers") is False:
        errors += security.validate_host_users(spec, path, options=options)
    if spec.get("hostnameOverride") is not None:
        errors += network.validate_hostname_override(spec, path)
    errors += _validate_names(spec, path, options=options)
    if spec.get("os") is not None:
        errors += windows.validate_system(spec, path, options=options)
    return errors + environment.validate_file_volumes(spec, path)


def _validate_parts(spec: Obj, metadata: Obj | None, path: str, *, options: PodOptions) -> Errors:
    """The errors of volumes, resource claims, containers and pod resources."""
    known, errors = volumes.validate(spec.get("volumes") or (), metadata, f"{path}.volumes", options=options)
    claims = spec.get("resourceClaims") or ()
    if claims:
        errors += scheduling.validate_claims(claims, f"{path}.resourceClaims", pod=metadata)
    around = Surroundings(
        volumes=known,
        claims=frozenset(claim["name"] for claim in claims if claim.get("name")),
        grace=spec.get(_GRACE),
        restart_policy=spec.get("restartPolicy", ""),
        has_host_users=spec.get("hostUsers") is not False,
        options=options,
    )
    main, initial = spec.get("containers") or (), spec.get("initContainers") or ()
    errors += containers.validate(main, f"{path}.containers", around=around)
    if initial:
        errors += containers.validate_init(initial, main, f"{path}.initContainers", around=around)
    if spec.get("ephemeralContainers"):
        errors += containers.validate_ephemeral(spec, f"{path}.ephemeralContainers", around=around)
    if spec.get("resources") is not None:
        errors += resources.validate_pod(spec, f"{path}.resources", claims=around.claims, options=options)
    return errors


def _validate_scheduling(spec: Obj, path: str, *, options: PodOptions) -> Errors:
    errors: Errors = []
    for index, gate in enumerate(spec.get("readinessGates") or ()):
        errors += rules.qualified_name(gate.get("conditionType", ""), f"{path}.readinessGates[{index}].conditionType")
    if gates := spec.get("schedulingGates"):
        errors += scheduling.validate_gates(gates, f"{path}.schedulingGates")
    if constraints := spec.get("topologySpreadConstraints"):
        errors += scheduling.validate_spread(constraints, f"{path}.topologySpreadConstraints", options=options)
    return errors


def _validate_names(spec: Obj, path: str, *, options: PodOptions) -> Errors:
    """The errors of names, deadlines, tolerations and host aliases."""
    errors: Errors = []
    for member in ("serviceAccountName", "nodeName"):
        if spec.get(member):
            errors += rules.subdomain(spec[member], f"{path}.{member}")
    errors += _validate_deadline(spec.get("activeDeadlineSeconds"), f"{path}.activeDeadlineSeconds")
    for member in ("hostname", "subdomain"):
        if spec.get(member):
            errors += rules.label(spec[member], f"{path}.{member}")
    errors += scheduling.validate_tolerations(spec.get("tolerations") or (), f"{path}.tolerations")
    if spec.get("hostAliases"):
        errors += network.validate_aliases(spec["hostAliases"], f"{path}.hostAliases")
    if spec.get("priorityClassName"):
        errors += rules.subdomain(spec["priorityClassName"], f"{path}.priorityClassName")
    if spec.get("runtimeClassName") is not None:
        errors += rules.subdomain(spec["runtimeClassName"], f"{path}.runtimeClassName")
    if spec.get("preemptionPolicy") is not None:
        errors += rules.required_word(spec, path, "preemptionPolicy", _PREEMPTION_POLICIES)
    if spec.get("overhead") is not None:
        errors += resources.validate({"limits": spec["overhead"]}, f"{path}.overhead", options=options)
    return errors


def _validate_deadline(seconds: int | None, path: str) -> Errors:
    if seconds is None or 1 <= seconds <= _MAX_INT32:
        return []
    return [field.invalid(path, seconds, f"must be between 1 and {_MAX_INT32}, inclusive")]
