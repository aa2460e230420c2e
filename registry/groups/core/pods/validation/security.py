"""Security: validates the security contexts of pods and containers. windows.py has the options for Windows. Pure."""

import re
from collections.abc import Sequence

from aio_apiserver.registry.base.validation import field, internal
from aio_apiserver.registry.groups.core.pods.validation import rules, windows
from aio_apiserver.registry.groups.core.pods.validation.options import PodOptions
from aio_apiserver.registry.groups.core.pods.validation.rules import Errors, Obj

_PROC_MOUNTS = ("Default", "Unmasked")
_PROFILES = ("Localhost", "RuntimeDefault", "Unconfined")
_FS_GROUP_POLICIES = ("Always", "OnRootMismatch")
_GROUP_POLICIES = ("Merge", "Strict")
_SELINUX_POLICIES = ("MountOption", "Recursive")
_LONGEST_PROFILE = 4095

_SYSCTL_SEGMENT = "[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
_SYSCTL = re.compile(rf"^({_SYSCTL_SEGMENT}[\./])*{_SYSCTL_SEGMENT}$")
_SYSCTL_LIMIT = 253
_SYSCTL_WRONG = f"must have at most {_SYSCTL_LIMIT} characters and match regex {_SYSCTL.pattern}"
_IPC_SYSCTLS = frozenset(
    f"kernel.{name}"
    for name in ("sem", "shmall", "shmmax", "shmmni", "shm_rmid_forced", "shm", "msgmax", "msgmnb", "msgmni", "msg")
)


def validate_container(context: Obj, path: str, *, has_host_users: bool, options: PodOptions) -> Errors:
    """The errors of a container's security context. `has_host_users`: the pod uses the user namespace of the host."""
    errors: Errors = []
    if context.get("privileged") and not options.allows_privileged:
        errors.append(field.forbidden(f"{path}.privileged", "disallowed by cluster policy"))
    errors += rules.identity(context, path, "runAsUser") + rules.identity(context, path, "runAsGroup")
    errors += rules.word(context, path, "procMount", _PROC_MOUNTS)
    if has_host_users and context.get("procMount") == "Unmasked":
        errors.append(field.invalid(f"{path}.procMount", "Unmasked", "`hostUsers` must be false to use `Unmasked`"))
    errors += _validate_seccomp(context.get("seccompProfile"), f"{path}.seccompProfile")
    errors += _validate_escalation(context, path)
    errors += windows.validate_options(context.get("windowsOptions"), f"{path}.windowsOptions")
    return errors + _validate_app_armor(context.get("appArmorProfile"), f"{path}.appArmorProfile")


def _validate_escalation(context: Obj, path: str) -> Errors:
    """The errors for a privileged container that sets allowPrivilegeEscalation to false."""
    if context.get("allowPrivilegeEscalation") is not False:
        return []
    reasons = ["`privileged` to true"] if context.get("privileged") else []
    added = rules.member(context, "capabilities").get("add") or ()
    reasons += ["`capabilities.Add` CAP_SYS_ADMIN" for capability in added if capability == "CAP_SYS_ADMIN"]
    shown = internal.form("core.SecurityContext", context) if reasons else None
    return [field.invalid(path, shown, f"cannot set `allowPrivilegeEscalation` to false and {why}") for why in reasons]


def validate_pod(spec: Obj, path: str, *, options: PodOptions) -> Errors:
    """The errors of the pod's security context and of the host namespaces that it shares."""
    context = rules.member(spec, "securityContext")
    errors: Errors = []
    if not context:
        return _validate_process_namespace(spec, path)
    for member in ("fsGroup", "runAsUser", "runAsGroup"):
        errors += rules.identity(context, path, member)
    for index, group in enumerate(context.get("supplementalGroups") or ()):
        errors += rules.identity_number(group, f"{path}.supplementalGroups[{index}]")
    errors += _validate_process_namespace(spec, path)
    errors += _validate_sysctls(spec, context.get("sysctls") or (), f"{path}.sysctls", options=options)
    errors += rules.word(context, path, "fsGroupChangePolicy", _FS_GROUP_POLICIES)
    errors += _validate_seccomp(context.get("seccompProfile"), f"{path}.seccompProfile")
    errors += windows.validate_options(context.get("windowsOptions"), f"{path}.windowsOptions")
    errors += _validate_app_armor(context.get("appArmorProfile"), f"{path}.appArmorProfile")
    errors += rules.word(context, path, "supplementalGroupsPolicy", _GROUP_POLICIES)
    policies = _SELINUX_POLICIES if options.allows_selinux_mounts else ("Recursive",)
    return errors + rules.word(context, path, "seLinuxChangePolicy", policies)


def _validate_process_namespace(spec: Obj, path: str) -> Errors:
    if not (spec.get("shareProcessNamespace") and spec.get("hostPID")):
        return []
    why = "ShareProcessNamespace and HostPID cannot both be enabled"
    return [field.invalid(f"{path}.shareProcessNamespace", True, why)]


def validate_host_users(spec: Obj, path: str, *, options: PodOptions) -> Errors:
    """The errors of a pod with its own user namespace: host namespaces and block devices are forbidden."""
    if spec.get("hostUsers") is not False:
        return []
    why = "when `hostUsers` is false"
    shared = (("hostNetwork", "hostNetwork"), ("hostPID", "HostPID"), ("hostIPC", "HostIPC"))
    errors = [field.forbidden(f"{path}.{shown}", why) for member, shown in shared if spec.get(member)]
    if not options.allows_devices_with_own_users:
        errors += [
            field.forbidden(f"{place}.volumeDevices", why)
            for container, place in rules.each_container(spec, path)
            if container.get("volumeDevices")
        ]
    return errors


def _validate_sysctls(spec: Obj, sysctls: Sequence[Obj], path: str, *, options: PodOptions) -> Errors:
    errors: Errors = []
    seen: set[str] = set()
    for index, sysctl in enumerate(sysctls):
        name, here = sysctl.get("name", ""), f"{path}[{index}].name"
        if not name:
            errors.append(field.required(here))
        elif len(name.encode()) > _SYSCTL_LIMIT or not _SYSCTL.fullmatch(name):
            errors.append(field.invalid(here, name, _SYSCTL_WRONG))
        elif name in seen:
            errors.append(field.duplicate(here, name))
        if not options.allows_host_sysctls:
            errors += validate_host_sysctl(spec, name, here)
        seen.add(name)
    return errors


def validate_host_sysctl(spec: Obj, name: str, path: str) -> Errors:
    """The error for a sysctl of a namespace that the pod shares with the host."""
    normal = _normal_sysctl(name).partition("*")[0]
    is_ipc = normal in _IPC_SYSCTLS or normal.startswith("fs.mqueue.")
    if spec.get("hostNetwork") and normal.startswith("net."):
        return [field.invalid(path, name, "may not be specified when 'hostNetwork' is true")]
    if spec.get("hostIPC") and is_ipc:
        return [field.invalid(path, name, "may not be specified when 'hostIPC' is true")]
    return []


def _normal_sysctl(name: str) -> str:
    """The name of a sysctl with dots: `net/ipv4/conf/eno2.100` becomes `net.ipv4.conf.eno2/100`."""
    first = next((char for char in name if char in "./"), ".")
    return name if first == "." else name.translate(str.maketrans("./", "/."))


def _validate_seccomp(profile: Obj | None, path: str) -> Errors:
    if profile is None:
        return []
    kind, local, here = profile.get("type", ""), profile.get("localhostProfile"), f"{path}.localhostProfile"
    errors = _validate_profile_type(kind, f"{path}.type", "type is required when seccompProfile is set")
    if kind == "Localhost":
        if local is None:
            return [*errors, field.required(here, "must be set when seccomp type is Localhost")]
        return errors + rules.relative_path(local, here)
    if local is not None:
        shown = internal.form("core.SeccompProfile", profile)
        errors.append(field.invalid(here, shown, "can only be set when seccomp type is Localhost"))
    return errors


def _validate_app_armor(profile: Obj | None, path: str) -> Errors:
    if profile is None:
        return []
    kind, local, here = profile.get("type", ""), profile.get("localhostProfile"), f"{path}.localhostProfile"
    if kind == "Localhost":
        return _validate_local_profile(local, here)
    if kind in _PROFILES and local is not None:
        return [field.invalid(here, local, "can only be set when AppArmor type is Localhost")]
    return _validate_profile_type(kind, f"{path}.type", "type is required when appArmorProfile is set")


def _validate_local_profile(profile: str | None, path: str) -> Errors:
    if not profile:
        return [field.required(path, "must be set when AppArmor type is Localhost")]
    errors: Errors = []
    if profile != profile.strip():
        errors.append(field.invalid(path, profile, "must not be padded with whitespace"))
    if len(profile.encode()) > _LONGEST_PROFILE:
        errors.append(field.too_long(path, _LONGEST_PROFILE))
    return errors


def _validate_profile_type(kind: str, path: str, missing: str) -> Errors:
    if not kind:
        return [field.required(path, missing)]
    return [] if kind in _PROFILES else [field.not_supported(path, kind, _PROFILES)]
