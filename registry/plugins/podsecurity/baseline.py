"""Baseline: the checks of the level baseline, which forbid known privilege escalations. Pure."""

from collections.abc import Mapping
from typing import Any

from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.plugins.podsecurity.findings import (
    Check,
    Finding,
    Spec,
    containers,
    counted,
    named,
    names_of,
    quoted,
    security,
    setters,
)

_APP_ARMOR = "container.apparmor.security.beta.kubernetes.io/"
_SECCOMP_OF_POD = "seccomp.security.alpha.kubernetes.io/pod"
_SECCOMP_OF_CONTAINER = "container.seccomp.security.alpha.kubernetes.io/"
_LOCALHOST = "localhost/"
_SAFE_PROFILES = frozenset({"RuntimeDefault", "Localhost"})
_CAPABILITIES = frozenset(
    """
    AUDIT_WRITE CHOWN DAC_OVERRIDE FOWNER FSETID KILL MKNOD NET_BIND_SERVICE SETFCAP SETGID SETPCAP SETUID SYS_CHROOT
    """.split()
)
_SE_LINUX_TYPES_UNTIL_1_30 = frozenset({"", "container_t", "container_init_t", "container_kvm_t"})
_SE_LINUX_TYPES = _SE_LINUX_TYPES_UNTIL_1_30 | {"container_engine_t"}
_HOST_NAMESPACES = ("hostNetwork", "hostPID", "hostIPC")

SYSCTLS: Mapping[int, tuple[str, ...]] = {
    0: (
        "kernel.shm_rmid_forced",
        "net.ipv4.ip_local_port_range",
        "net.ipv4.tcp_syncookies",
        "net.ipv4.ping_group_range",
        "net.ipv4.ip_unprivileged_port_start",
    ),
    27: ("net.ipv4.ip_local_reserved_ports",),
    29: (
        "net.ipv4.tcp_keepalive_time",
        "net.ipv4.tcp_fin_timeout",
        "net.ipv4.tcp_keepalive_intvl",
        "net.ipv4.tcp_keepalive_probes",
    ),
    32: ("net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"),
}
"""The allowed sysctls, by the minor version that allowed them."""


def app_armor(annotations: Mapping[str, str], spec: Spec) -> Finding | None:
    types, bad, is_pod = _unsafe_profiles(spec, "appArmorProfile")
    noted = sorted(
        f"{key}={quote(value)}"
        for key, value in annotations.items()
        if key.startswith(_APP_ARMOR) and value not in {"", "runtime/default"} and not value.startswith(_LOCALHOST)
    )
    subject = setters(bad, is_pod=is_pod)
    if noted:
        subject = " and ".join(filter(None, (subject, counted("annotation", noted))))
    if not subject:
        return None
    types += noted
    return Finding(
        counted("forbidden AppArmor profile", types), f"{subject} must not set AppArmor profile type to {quoted(types)}"
    )


def _unsafe_profiles(spec: Spec, kind: str) -> tuple[list[str], list[str], bool]:
    """The forbidden profile types, the containers that have one, and whether the pod itself has one."""

    def unsafe_type(owner: Spec) -> str | None:
        profile = security(owner).get(kind)
        found = "RuntimeDefault" if profile is None else profile.get("type", "")
        return None if found in _SAFE_PROFILES else found

    of_pod = unsafe_type(spec)
    of_containers = [
        (one.get("name", ""), found) for one in containers(spec) if (found := unsafe_type(one)) is not None
    ]
    types = {found for _, found in of_containers} | ({of_pod} if of_pod is not None else set())
    return sorted(types), [name for name, _ in of_containers], of_pod is not None


def capabilities(_annotations: Mapping[str, str], spec: Spec) -> Finding | None:
    bad: dict[str, set[str]] = {}
    for container in containers(spec):
        added = set((security(container).get("capabilities") or {}).get("add") or ()) - _CAPABILITIES
        if added:
            bad[container.get("name", "")] = added
    if not bad:
        return None
    what = quoted(sorted(set().union(*bad.values())))
    detail = f"{named('container', bad)} must not include {what} in securityContext.capabilities.add"
    return Finding("non-default capabilities", detail)


def host_namespaces(_annotations: Mapping[str, str], spec: Spec) -> Finding | None:
    used = [f"{name}=true" for name in _HOST_NAMESPACES if spec.get(name)]
    return Finding("host namespaces", ", ".join(used)) if used else None


def host_paths(_annotations: Mapping[str, str], spec: Spec) -> Finding | None:
    volumes = names_of(volume for volume in spec.get("volumes") or () if volume.get("hostPath") is not None)
    return Finding("hostPath volumes", named("volume", volumes)) if volumes else None


def host_ports(_annotations: Mapping[str, str], spec: Spec) -> Finding | None:
    bad: dict[str, set[str]] = {}
    for container in containers(spec):
        used = {str(port["hostPort"]) for port in container.get("ports") or () if port.get("hostPort")}
        if used:
            bad[container.get("name", "")] = used
    if not bad:
        return None
    every = sorted(set().union(*bad.values()))
    listed = f"{counted('hostPort', every)} {', '.join(every)}"
    return Finding("hostPort", f"{named('container', bad)} {_use(bad)} {listed}")


def host_probes(_annotations: Mapping[str, str], spec: Spec) -> Finding | None:
    """Probes and lifecycle hooks may not name a host, because a kubelet would connect to it."""
    bad = {container.get("name", ""): hosts for container in containers(spec) if (hosts := _probed_hosts(container))}
    if not bad:
        return None
    every = sorted(set().union(*bad.values()))
    listed = f"{counted('probe or lifecycle host', every)} {quoted(every)}"
    return Finding("probe or lifecycle host", f"{named('container', sorted(bad))} {_use(bad)} {listed}")


def _probed_hosts(container: Spec) -> set[str]:
    lifecycle = container.get("lifecycle") or {}
    handlers = [container.get(name) or {} for name in ("livenessProbe", "readinessProbe", "startupProbe")]
    handlers += [lifecycle.get(name) or {} for name in ("postStart", "preStop")]
    actions = [handler.get(name) or {} for handler in handlers for name in ("httpGet", "tcpSocket")]
    return {action["host"] for action in actions if action.get("host")}


def _use(things: Mapping[str, Any]) -> str:
    return "uses" if len(things) == 1 else "use"


def privileged(_annotations: Mapping[str, str], spec: Spec) -> Finding | None:
    bad = names_of(container for container in containers(spec) if security(container).get("privileged"))
    detail = f"{named('container', bad)} must not set securityContext.privileged=true"
    return Finding("privileged", detail) if bad else None


def proc_mount(_annotations: Mapping[str, str], spec: Spec) -> Finding | None:
    mounts = ((one.get("name", ""), security(one).get("procMount")) for one in containers(spec))
    bad = {name: mount for name, mount in mounts if mount is not None and mount != "Default"}
    what = quoted(sorted(set(bad.values())))
    detail = f"{named('container', bad)} must not set securityContext.procMount to {what}"
    return Finding("procMount", detail) if bad else None


def proc_mount_outside_user_namespaces(annotations: Mapping[str, str], spec: Spec) -> Finding | None:
    return None if spec.get("hostUsers") is False else proc_mount(annotations, spec)


def se_linux(_annotations: Mapping[str, str], spec: Spec) -> Finding | None:
    return _se_linux(spec, _SE_LINUX_TYPES)


def se_linux_until_1_30(_annotations: Mapping[str, str], spec: Spec) -> Finding | None:
    return _se_linux(spec, _SE_LINUX_TYPES_UNTIL_1_30)


def _se_linux(spec: Spec, allowed: frozenset[str]) -> Finding | None:
    def is_bad(owner: Spec) -> bool:
        options = security(owner).get("seLinuxOptions") or {}
        return bool(options.get("type", "") not in allowed or options.get("user") or options.get("role"))

    bad = [container for container in containers(spec) if is_bad(container)]
    owners = [*([spec] if is_bad(spec) else []), *bad]
    if not owners:
        return None
    options = [security(owner)["seLinuxOptions"] for owner in owners]
    types = sorted({one.get("type", "") for one in options} - allowed)
    what = [named("type", types)] if types else []
    what += [f"{name} may not be set" for name in ("user", "role") if any(one.get(name) for one in options)]
    subject = setters(names_of(bad), is_pod=len(owners) > len(bad))
    return Finding("seLinuxOptions", f"{subject} set forbidden securityContext.seLinuxOptions: {'; '.join(what)}")


def seccomp_annotations(annotations: Mapping[str, str], spec: Spec) -> Finding | None:
    keys = [_SECCOMP_OF_POD, *(_SECCOMP_OF_CONTAINER + name for name in names_of(containers(spec)))]
    bad = sorted(
        {f"{key}={quote(annotations[key])}" for key in keys if key in annotations and _is_bad(annotations[key])}
    )
    return Finding("seccompProfile", f"forbidden {counted('annotation', bad)} {', '.join(bad)}") if bad else None


def _is_bad(profile: str) -> bool:
    return profile not in {"runtime/default", "docker/default"} and not profile.startswith(_LOCALHOST)


def seccomp(_annotations: Mapping[str, str], spec: Spec) -> Finding | None:
    types, bad, is_pod = _unsafe_profiles(spec, "seccompProfile")
    subject = setters(bad, is_pod=is_pod)
    detail = f"{subject} must not set securityContext.seccompProfile.type to {quoted(types)}"
    return Finding("seccompProfile", detail) if subject else None


def sysctls_of(minor: int) -> Check:
    """The check of sysctls as of a minor version."""
    allowed = frozenset(name for since, names in SYSCTLS.items() if since <= minor for name in names)

    def check(_annotations: Mapping[str, str], spec: Spec) -> Finding | None:
        bad = [name for name in names_of(security(spec).get("sysctls") or ()) if name not in allowed]
        return Finding("forbidden sysctls", ", ".join(bad)) if bad else None

    return check


def windows_host_process(_annotations: Mapping[str, str], spec: Spec) -> Finding | None:
    def is_bad(owner: Spec) -> bool:
        return bool((security(owner).get("windowsOptions") or {}).get("hostProcess"))

    subject = setters(names_of(filter(is_bad, containers(spec))), is_pod=is_bad(spec))
    detail = f"{subject} must not set securityContext.windowsOptions.hostProcess=true"
    return Finding("hostProcess", detail) if subject else None
