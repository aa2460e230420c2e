"""Pod warnings: the Warning headers for accepted pods and pod templates. Pure.

    nodes.py       deprecated node labels; null selectors that match nothing
    volumes.py     removed volume plugins; files of one volume with the same path
    containers.py  duplicate ports and variables; fractional amounts; old annotations

Must hold: the warnings, their words and their order are kube-apiserver's.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from aio_apiserver.registry.base.deferred import Deferred
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.base.validation import addresses, names, resource_names

if TYPE_CHECKING:
    from aio_apiserver.registry.groups.core.pods.pod_warnings import containers, nodes, volumes
else:
    containers = Deferred("aio_apiserver.registry.groups.core.pods.pod_warnings.containers")
    nodes = Deferred("aio_apiserver.registry.groups.core.pods.pod_warnings.nodes")
    volumes = Deferred("aio_apiserver.registry.groups.core.pods.pod_warnings.volumes")

_NAMED_IN_HOSTNAMES = "which can result in surprising behavior; a DNS label is recommended: [{}]"
_ANNOTATIONS = {
    "scheduler.alpha.kubernetes.io/critical-pod": (
        'non-functional in v1.16+; use the "priorityClassName" field instead'
    ),
    "security.alpha.kubernetes.io/sysctls": 'non-functional in v1.11+; use the "sysctls" field instead',
    "security.alpha.kubernetes.io/unsafe-sysctls": 'non-functional in v1.11+; use the "sysctls" field instead',
}
_SECCOMP = "seccomp.security.alpha.kubernetes.io/pod"
_NEGATIVE_GRACE = "must be >= 0; negative values are invalid and will be treated as 1"

Obj = Mapping[str, Any]


def template_warnings(template: Obj | None, path: str) -> list[str]:
    """The warnings for a pod template at `path`."""
    if template is None:
        return []
    return _warnings(template["spec"], template.get("metadata") or {}, f"{path}.", is_template=True)


def pod_warnings(pod: Obj) -> list[str]:
    """The warnings for a new pod."""
    return _warnings(pod["spec"], pod["metadata"], "", is_template=False)


def warn_of_name(name: str, use: str) -> list[str]:
    """The warning for a name that is no DNS label. Pods derive their hostnames from it."""
    messages = " ".join(names.is_dns_label(name, False))
    return [f"metadata.name: this is used in {use}, {_NAMED_IN_HOSTNAMES.format(messages)}"] if messages else []


def _warnings(spec: Obj, metadata: Obj, prefix: str, *, is_template: bool) -> list[str]:
    annotations: Mapping[str, str] = metadata.get("annotations") or {}
    found = nodes.warn_of_labels(spec, f"{prefix}spec")
    if annotations:
        found += _warn_of_annotations(annotations, prefix)
    found += volumes.warn(spec.get("volumes") or (), f"{prefix}spec.volumes")
    found += _warn_of_repetition(spec, f"{prefix}spec")
    found += resource_names.warn_of_fractions(spec.get("overhead") or {}, f"{prefix}spec.overhead")
    if _SECCOMP in annotations and (spec.get("securityContext") or {}).get("seccompProfile") is None:
        found.append(f"{prefix}metadata.annotations[{_SECCOMP}]: {containers.SECCOMP_IS_OVER}")
    found += containers.warn(spec, annotations, prefix, is_template=is_template)
    if (spec.get("terminationGracePeriodSeconds") or 0) < 0:
        found.append(f"{prefix}spec.terminationGracePeriodSeconds: {_NEGATIVE_GRACE}")
    if spec.get("affinity"):
        found += nodes.warn_of_empty_selectors(spec, f"{prefix}spec.affinity")
    return found + _warn_of_addresses(spec, f"{prefix}spec")


def _warn_of_annotations(annotations: Mapping[str, str], prefix: str) -> list[str]:
    return [f"{prefix}metadata.annotations[{key}]: {why}" for key, why in _ANNOTATIONS.items() if key in annotations]


def _warn_of_repetition(spec: Obj, path: str) -> list[str]:
    """Warn of hostAliases and imagePullSecrets with the same key twice, and of secrets without a name."""
    found = []
    for member, key, word in (("hostAliases", "ip", "ip"), ("imagePullSecrets", "name", "name")):
        seen: set[str] = set()
        for index, one in enumerate(spec.get(member) or ()):
            value = one.get(key, "")
            if value in seen:
                found.append(f"{path}.{member}[{index}].{key}: duplicate {word} {quote(value)}")
            seen.add(value)
    for index, secret in enumerate(spec.get("imagePullSecrets") or ()):
        if not secret.get("name"):
            found.append(f'{path}.imagePullSecrets[{index}].name: invalid empty name ""')
    return found


def _warn_of_addresses(spec: Obj, path: str) -> list[str]:
    found = []
    for index, server in enumerate((spec.get("dnsConfig") or {}).get("nameservers") or ()):
        found += addresses.warn(server, f"{path}.dnsConfig.nameservers[{index}]")
    for index, alias in enumerate(spec.get("hostAliases") or ()):
        found += addresses.warn(alias.get("ip", ""), f"{path}.hostAliases[{index}].ip")
    return found
