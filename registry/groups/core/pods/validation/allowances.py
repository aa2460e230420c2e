"""Allowances: the violations of newer rules in an old pod, which an update may keep. Pure."""

from collections.abc import Callable, Mapping
from typing import Any

from aio_apiserver.registry.base import objects
from aio_apiserver.registry.base.empties import places
from aio_apiserver.registry.base.validation import label_selectors, names, resource_names
from aio_apiserver.registry.generic.strategy import StrategyContext
from aio_apiserver.registry.groups.core.pods.validation import affinity, annotations, rules, security
from aio_apiserver.registry.groups.core.pods.validation.options import PodOptions
from aio_apiserver.registry.groups.core.pods.validation.rules import Obj


def options_for(
    old_spec: Obj | None,
    old_metadata: Obj | None = None,
    *,
    is_pod: bool = False,
    context: StrategyContext | None = None,
) -> PodOptions:
    """The options for a new spec, or for one that replaces an old one. Without a context there is no request."""
    allows_privileged = context is not None and context.allows_privileged
    empties = places(context.empties) if context is not None and context.empties else frozenset()
    if old_spec is None:
        return PodOptions(is_pod=is_pod, allows_privileged=allows_privileged, empties=empties)
    allowed = {name: is_broken(old_spec) for name, is_broken in _BROKEN.items()}
    return PodOptions(
        is_pod=is_pod,
        allows_privileged=allows_privileged,
        empties=empties,
        allows_any_deletion_cost=annotations.has_deletion_cost_that_is_wrong(old_metadata),
        **allowed,
    )


def _has_any_node_label_value(spec: Obj) -> bool:
    required = objects.get(spec, f"affinity.nodeAffinity.{affinity.REQUIRED}.nodeSelectorTerms") or ()
    return any(
        names.check_label_value(value)
        for term in required
        for expression in term.get("matchExpressions") or ()
        for value in expression.get("values") or ()
    )


def _has_any_value_in_selectors(spec: Obj) -> bool:
    terms: list[Obj] = []
    for kind in affinity.OF_PODS:
        of_kind = rules.member(rules.member(spec, "affinity"), kind)
        terms += of_kind.get(affinity.REQUIRED) or ()
        terms += [rules.member(one, "podAffinityTerm") for one in of_kind.get(affinity.PREFERRED) or ()]
    return any(affinity.validate_selectors(term, "", any_value=False) for term in terms)


def _has_any_spread_selector(spec: Obj) -> bool:
    return any(
        label_selectors.validate(one["labelSelector"], "")
        for one in spec.get("topologySpreadConstraints") or ()
        if one.get("labelSelector") is not None
    )


def _has_old_spread_keys(spec: Obj) -> bool:
    return any(
        affinity.validate_label_keys("", match=one.get("matchLabelKeys") or (), selector=one.get("labelSelector"))
        for one in spec.get("topologySpreadConstraints") or ()
    )


def _has_any_token_path(spec: Obj) -> bool:
    return any(
        rules.local_path(source["serviceAccountToken"].get("path", ""), "")
        for volume in spec.get("volumes") or ()
        for source in rules.member(volume, "projected").get("sources") or ()
        if source.get("serviceAccountToken") is not None
    )


def _has_devices_with_own_users(spec: Obj) -> bool:
    if spec.get("hostUsers") is not False:
        return False
    return any(container.get("volumeDevices") for container, _ in rules.each_container(spec, ""))


def _has_host_sysctls(spec: Obj) -> bool:
    sysctls = rules.member(spec, "securityContext").get("sysctls") or ()
    return any(security.validate_host_sysctl(spec, one.get("name", ""), "") for one in sysctls)


def _has_odd_huge_pages(spec: Obj) -> bool:
    amounts: list[Mapping[str, str]] = [spec.get("overhead") or {}]
    for container, _ in rules.each_container(spec, ""):
        resources = rules.member(container, "resources")
        amounts += [resources.get("limits") or {}, resources.get("requests") or {}]
    return any(
        resource_names.is_huge_pages(name) and not resource_names.is_divisible(name, amount)
        for one in amounts
        for name, amount in one.items()
    )


def _restarts_init_on_resize(spec: Obj) -> bool:
    return any(
        policy.get("restartPolicy") == "RestartContainer"
        for container in spec.get("initContainers") or ()
        if container.get("restartPolicy") != "Always"
        for policy in container.get("resizePolicy") or ()
    )


def _has_selinux_policy(spec: Obj) -> bool:
    return rules.member(spec, "securityContext").get("seLinuxChangePolicy") is not None


_BROKEN: Mapping[str, Callable[[Mapping[str, Any]], bool]] = {
    "allows_any_node_label_value": _has_any_node_label_value,
    "allows_any_spread_selector": _has_any_spread_selector,
    "allows_any_token_path": _has_any_token_path,
    "allows_any_value_in_selectors": _has_any_value_in_selectors,
    "allows_devices_with_own_users": _has_devices_with_own_users,
    "allows_host_sysctls": _has_host_sysctls,
    "allows_odd_huge_pages": _has_odd_huge_pages,
    "allows_restart_of_init_on_resize": _restarts_init_on_resize,
    "allows_selinux_mounts": _has_selinux_policy,
    "has_old_spread_keys": _has_old_spread_keys,
}
