"""Containers: warnings for their ports, environment variables, amounts and annotations. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.base.validation import resource_names
from aio_apiserver.registry.groups.core.pods.parts import app_armor
from aio_apiserver.registry.groups.core.pods.validation import rules

SECCOMP_IS_OVER = 'non-functional in v1.27+; use the "seccompProfile" field instead'
_SECCOMP = "container.seccomp.security.alpha.kubernetes.io/"

_MOST_COMPARED = 10
"""Each port is compared with at most this many other ports of the same number."""

Obj = Mapping[str, Any]


def warn(spec: Obj, annotations: Mapping[str, str], prefix: str, *, is_template: bool) -> list[str]:
    """All warnings of a pod's containers. AppArmor annotations are reported for templates; pods.py reports those of
    pods.
    """
    found = []
    of_pod = (spec.get("securityContext") or {}).get("appArmorProfile")
    for container, path in rules.each_container(spec, f"{prefix}spec"):
        if annotations:
            found += _warn_of_seccomp(container, annotations, prefix)
        if annotations and is_template:
            found += _warn_of_app_armor(container, annotations, prefix, of_pod=of_pod)
        found += _warn_of_amounts(container.get("resources") or {}, f"{path}.resources")
        found += _warn_of_variables(container.get("env") or (), f"{path}.env")
    return found + _warn_of_ports(spec, f"{prefix}spec")


def _warn_of_seccomp(container: Obj, annotations: Mapping[str, str], prefix: str) -> list[str]:
    key = _SECCOMP + container.get("name", "")
    if key not in annotations or (container.get("securityContext") or {}).get("seccompProfile") is not None:
        return []
    return [f"{prefix}metadata.annotations[{key}]: {SECCOMP_IS_OVER}"]


def _warn_of_app_armor(container: Obj, annotations: Mapping[str, str], prefix: str, *, of_pod: Obj | None) -> list[str]:
    key = app_armor.PREFIX + container.get("name", "")
    if key not in annotations or (container.get("securityContext") or {}).get("appArmorProfile") is not None:
        return []
    if of_pod is not None and of_pod == app_armor.profile_of(annotations[key]):
        return []
    return [f"{prefix}metadata.annotations[{key}]: {app_armor.DEPRECATED}"]


def _warn_of_amounts(resources: Obj, path: str) -> list[str]:
    found = []
    for name in ("memory", "ephemeral-storage"):
        for member in ("limits", "requests"):
            amounts = resources.get(member) or {}
            if name in amounts:
                found += resource_names.warn_of_fractions(amounts, f"{path}.{member}", names=(name,))
    return found


def _warn_of_variables(variables: Sequence[Obj], path: str) -> list[str]:
    """Warn of a second variable with the same name whose value does not refer to the first."""
    found = []
    seen: set[str] = set()
    for index, variable in enumerate(variables):
        name, value = variable.get("name", ""), variable.get("value") or ""
        reference = f"$({name})"
        is_new = variable.get("valueFrom") is not None or value == reference or reference not in value
        if name in seen and is_new:
            why = f"hides previous definition of {quote(name)}, which may be dropped when using apply"
            found.append(f"{path}[{index}]: {why}")
        seen.add(name)
    return found


def _warn_of_ports(spec: Obj, path: str) -> list[str]:
    """Warn of duplicate ports, by number and by name, over all containers."""
    found = []
    known: dict[tuple[int, str], list[tuple[Obj, str]]] = {}
    ports = _ports(spec, path)
    for port, here in ports:
        if port.get("hostIP") and not port.get("hostPort"):
            found.append(f"{here}: hostIP set without hostPort: {_port_text(port)}")
        others = known.setdefault((port.get("containerPort", 0), port.get("protocol", "")), [])
        if others:
            found += [f"{here}: {what} port definition with {there}" for what, there in _clashes(port, others)]
        if len(others) < _MOST_COMPARED:
            others.append((port, here))
    names: dict[str, str] = {}
    for port, here in ports:
        name = port.get("name")
        if name and name in names:
            there = names[name]
            use = f"services and probes that select ports by name will use {there}"
            found.append(f"{here}: duplicate port name {quote(name)} with {there}, {use}")
        elif name:
            names[name] = here
    return found


def _ports(spec: Obj, path: str) -> Sequence[tuple[Obj, str]]:
    found: list[tuple[Obj, str]] = []
    for container, place in rules.each_container(spec, path):
        for index, port in enumerate(container.get("ports") or ()):
            found.append((port, f"{place}.ports[{index}]"))
    return found


def _clashes(port: Obj, others: Sequence[tuple[Obj, str]]) -> Iterator[tuple[str, str]]:
    address, number = port.get("hostIP", ""), port.get("hostPort", 0)
    for other, there in others:
        other_address, other_number = other.get("hostIP", ""), other.get("hostPort", 0)
        if (address, number) == (other_address, other_number):
            yield "duplicate", there
        elif not number or not other_number:
            yield "overlapping", there
        elif number == other_number and bool(address) != bool(other_address):
            yield "dangerously ambiguous", there


def _port_text(port: Obj) -> str:
    """A port as Go prints the struct."""
    members = (
        ("Name", port.get("name", "")),
        ("HostPort", port.get("hostPort", 0)),
        ("ContainerPort", port.get("containerPort", 0)),
        ("Protocol", port.get("protocol", "")),
        ("HostIP", port.get("hostIP", "")),
    )
    return "{" + " ".join(f"{name}:{value}" for name, value in members) + "}"
