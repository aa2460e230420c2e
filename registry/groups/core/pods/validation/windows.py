"""Windows: validates Windows options, and the fields that `os` forbids for Linux or Windows pods. Pure."""

import re
from collections.abc import Collection

from aio_apiserver.registry.base.validation import field
from aio_apiserver.registry.groups.core.pods.validation import rules
from aio_apiserver.registry.groups.core.pods.validation.options import PodOptions
from aio_apiserver.registry.groups.core.pods.validation.rules import Errors, Obj

_SYSTEMS = ("linux", "windows")
_NOT_ON_WINDOWS = "cannot be set for a windows pod"
_NOT_ON_LINUX = "windows options cannot be set for a linux pod"

_POD_MEMBERS = (
    ("securityContext.appArmorProfile", False),
    ("securityContext.seLinuxOptions", False),
    ("hostUsers", False),
    ("hostPID", True),
    ("hostIPC", True),
    ("securityContext.seccompProfile", False),
    ("securityContext.fsGroup", False),
    ("securityContext.fsGroupChangePolicy", False),
    ("securityContext.sysctls", True),
    ("shareProcessNamespace", False),
    ("securityContext.runAsUser", False),
    ("securityContext.runAsGroup", False),
    ("securityContext.supplementalGroups", False),
    ("securityContext.supplementalGroupsPolicy", False),
    ("securityContext.seLinuxChangePolicy", False),
)
"""The fields that a Windows pod may not have, and whether an empty or false value is allowed."""
_CONTAINER_MEMBERS = (
    "appArmorProfile",
    "seLinuxOptions",
    "seccompProfile",
    "capabilities",
    "readOnlyRootFilesystem",
    "privileged",
    "allowPrivilegeEscalation",
    "procMount",
    "runAsUser",
    "runAsGroup",
)

_LARGEST_SPEC = 64
"""The largest GMSA credential spec, in KiB."""
_LONGEST_DOMAIN = 256
_LONGEST_USER = 104
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_NET_BIOS = re.compile(r'[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}')
_DNS_LABEL = "[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?"
_DNS_NAME = re.compile(rf"{_DNS_LABEL}(?:\.{_DNS_LABEL})*")
_NO_USER = re.compile(r"[. ]+")
_FORBIDDEN_IN_USER = frozenset('"/\\:;|=,+*?<>@[]')


def validate_options(options: Obj | None, path: str) -> Errors:
    """The errors of windowsOptions."""
    if options is None:
        return []
    errors: Errors = []
    if options.get("gmsaCredentialSpecName") is not None:
        errors += rules.subdomain(options["gmsaCredentialSpecName"], f"{path}.gmsaCredentialSpecName")
    spec, user = options.get("gmsaCredentialSpec"), options.get("runAsUserName")
    if spec is not None:
        here = f"{path}.gmsaCredentialSpec"
        if not spec:
            errors.append(field.invalid(here, spec, "gmsaCredentialSpec cannot be an empty string"))
        elif len(spec.encode()) > _LARGEST_SPEC * 1024:
            errors.append(field.invalid(here, spec, f"gmsaCredentialSpec size must be under {_LARGEST_SPEC} KiB"))
    if user is not None:
        here = f"{path}.runAsUserName"
        errors += [field.invalid(here, user, f"runAsUserName{why}") for why in _check_user_name(user)]
    return errors


def _check_user_name(name: str) -> list[str]:
    """The messages for a user name, which is DOMAIN\\USER or USER."""
    if not name:
        return [" cannot be an empty string"]
    if _CONTROL.search(name):
        return [" cannot contain control characters"]
    domain, backslash, user = name.rpartition("\\")
    if "\\" in domain:
        return [" cannot contain more than one backslash"]
    is_domain = not backslash or _NET_BIOS.fullmatch(domain) or _DNS_NAME.fullmatch(domain)
    length = len(user.encode())
    rows = (
        (len(domain.encode()) >= _LONGEST_DOMAIN, f"'s Domain length must be under {_LONGEST_DOMAIN} characters"),
        (not is_domain, "'s Domain doesn't match the NetBios nor the DNS format"),
        (not user, "'s User cannot be empty"),
        (length > _LONGEST_USER, f"'s User length must not be longer than {_LONGEST_USER} characters"),
        (_NO_USER.fullmatch(user), "'s User cannot contain only periods or spaces"),
        (
            _FORBIDDEN_IN_USER & set(user),
            "'s User cannot contain the following characters: \"/\\:;|=,+*?<>@[]",
        ),
    )
    return [why for is_wrong, why in rows if is_wrong]


def validate_host_process(spec: Obj, path: str, *, options: PodOptions) -> Errors:
    """The errors of hostProcess: all containers of a pod are host processes, or none is."""
    of_pod = _host_process(spec)
    errors: Errors = []
    are_host_processes = []
    for container, place in rules.each_container(spec, path):
        own = _host_process(container)
        if own is not None and of_pod is not None and own != of_pod:
            was = "true" if of_pod else "false"
            why = f"pod hostProcess value must be identical if both are specified, was {was}"
            errors.append(field.invalid(f"{place}.securityContext.windowsOptions.hostProcess", own, why))
        are_host_processes.append(bool(of_pod if own is None else own))
    if not any(are_host_processes):
        return errors
    if not all(are_host_processes):
        why = "If pod contains any hostProcess containers then all containers must be HostProcess containers"
        errors.append(field.invalid(path, "", why))
    if not spec.get("hostNetwork"):
        why = "hostNetwork must be true if pod contains any hostProcess containers"
        errors.append(field.invalid(f"{path}.hostNetwork", False, why))
    if not options.allows_privileged:
        errors.append(field.forbidden(path, "hostProcess containers are disallowed by cluster policy"))
    return errors


def _host_process(owner: Obj) -> bool | None:
    options = (owner.get("securityContext") or {}).get("windowsOptions") or {}
    wanted: bool | None = options.get("hostProcess")
    return wanted


def validate_system(spec: Obj, path: str, *, options: PodOptions) -> Errors:
    """The errors of `os`, and of fields that this operating system forbids."""
    if spec.get("os") is None:
        return []
    system = spec["os"].get("name", "")
    if not system:
        return [field.required(f"{path}.os.name")]
    if system not in _SYSTEMS:
        return [field.not_supported(f"{path}.os", system, _SYSTEMS)]
    return _validate_linux(spec, path) if system == "linux" else _validate_windows(spec, path, options.empties)


def _validate_linux(spec: Obj, path: str) -> Errors:
    owners = [(spec, path), *rules.each_container(spec, path)]
    return [
        field.forbidden(f"{place}.securityContext.windowsOptions", _NOT_ON_LINUX)
        for owner, place in owners
        if rules.member(owner, "securityContext").get("windowsOptions") is not None
    ]


def _validate_windows(spec: Obj, path: str, empties: Collection[str]) -> Errors:
    errors: Errors = []
    for member, may_be_empty in _POD_MEMBERS:
        parent, _, name = member.rpartition(".")
        value = (rules.member(spec, parent) if parent else spec).get(name)
        if value if may_be_empty else value is not None or f"{path}.{member}" in empties:
            errors.append(field.forbidden(f"{path}.{member}", _NOT_ON_WINDOWS))
    for container, place in rules.each_container(spec, path):
        context = rules.member(container, "securityContext")
        errors += [
            field.forbidden(f"{place}.securityContext.{member}", _NOT_ON_WINDOWS)
            for member in _CONTAINER_MEMBERS
            if context.get(member) is not None
        ]
    return errors
