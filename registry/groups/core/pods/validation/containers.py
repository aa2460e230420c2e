"""Containers: validates containers, init containers and ephemeral containers of a pod. Pure."""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from aio_apiserver.registry.base.errors import Invalid
from aio_apiserver.registry.base.validation import field, ports
from aio_apiserver.registry.groups.core.pods.validation import (
    environment,
    mounts,
    probes,
    resources,
    restarts,
    rules,
    security,
)
from aio_apiserver.registry.groups.core.pods.validation.options import PodOptions
from aio_apiserver.registry.groups.core.pods.validation.rules import Errors, Obj
from aio_apiserver.registry.groups.core.pods.validation.volume_sources import PULL_POLICIES
from aio_apiserver.registry.groups.core.pods.validation.volumes import Volumes

_MESSAGE_POLICIES = ("File", "FallbackToLogsOnError")
_PROTOCOLS = ("SCTP", "TCP", "UDP")
_NOT_FOR_EPHEMERAL = (
    "ports",
    "resources",
    "resizePolicy",
    "restartPolicy",
    "restartPolicyRules",
    "livenessProbe",
    "readinessProbe",
    "startupProbe",
    "lifecycle",
)


class Surroundings(Struct, frozen=True, kw_only=True):
    """The parts of a pod on which the rules of its containers depend."""

    volumes: Volumes
    claims: frozenset[str]
    grace: int | None
    restart_policy: str
    has_host_users: bool
    options: PodOptions


def validate(containers: Sequence[Obj], path: str, *, around: Surroundings) -> Errors:
    """The errors of the main containers."""
    if not containers:
        return [field.required(path)]
    errors: Errors = []
    names: set[str] = set()
    for container, here in _until_enough(containers, path, errors):
        name = container.get("name", "")
        errors += _validate_common(container, here, around)
        if name in names:
            errors.append(field.duplicate(f"{here}.name", name))
        names.add(name)
        errors += probes.validate(container, here, grace=around.grace)
        errors += restarts.validate(container, here)
    return errors + _validate_host_ports(containers, path)


def validate_init(containers: Sequence[Obj], others: Sequence[Obj], path: str, *, around: Surroundings) -> Errors:
    """The errors of init containers, which run before the others, or beside them as sidecars."""
    errors: Errors = []
    names = {container.get("name", "") for container in others}
    for container, here in _until_enough(containers, path, errors):
        name = container.get("name", "")
        errors += _validate_common(container, here, around)
        errors += restarts.validate_of_init_container(container, here)
        if name in names:
            errors.append(field.duplicate(f"{here}.name", name))
        elif name:
            names.add(name)
        errors += _validate_host_ports((container,), path)
        if restarts.is_sidecar(container):
            errors += probes.validate(container, here, grace=around.grace)
        else:
            errors += probes.validate_none(container, here)
            errors += _validate_no_restart_on_resize(container, here, around.options)
    return errors


def _until_enough(containers: Sequence[Obj], path: str, errors: Errors) -> Iterator[tuple[Obj, str]]:
    """Containers with their paths, until there are as many errors as a response names: 130,000 containers may have
    390,000. The caller adds to `errors`.
    """
    for index, container in enumerate(containers):
        if len(errors) >= Invalid.most_causes:
            return
        yield container, f"{path}[{index}]"


def _validate_no_restart_on_resize(container: Obj, path: str, options: PodOptions) -> Errors:
    if options.allows_restart_of_init_on_resize:
        return []
    why = "must not be set to 'RestartContainer' for non-sidecar initContainers"
    return [
        field.invalid(f"{path}.resizePolicy[{index}].restartPolicy", policy["restartPolicy"], why)
        for index, policy in enumerate(container.get("resizePolicy") or ())
        if policy.get("restartPolicy") == "RestartContainer"
    ]


def validate_ephemeral(spec: Obj, path: str, *, around: Surroundings) -> Errors:
    """The errors of ephemeral containers, which have no ports, probes or resources."""
    errors: Errors = []
    others = {one.get("name", "") for member in ("containers", "initContainers") for one in spec.get(member) or ()}
    names = set(others)
    for container, here in _until_enough(spec.get("ephemeralContainers") or (), path, errors):
        name = container.get("name", "")
        errors += _validate_common(container, here, around) + validate_image(container, here)
        if name in names:
            errors.append(field.duplicate(f"{here}.name", name))
        names.add(name)
        target = container.get("targetContainerName")
        if target and target not in others:
            errors.append(field.not_found(f"{here}.targetContainerName", target))
        why = "cannot be set for an Ephemeral Container"
        unfit = (member for member in _NOT_FOR_EPHEMERAL if _is_set(container, here, member, around.options))
        errors += [field.forbidden(f"{here}.{member}", why) for member in unfit]
        errors += [field.forbidden(place, why) for place in _sub_paths(container, here)]
    return errors


def _is_set(container: Obj, path: str, member: str, options: PodOptions) -> bool:
    """Whether the client has set the member. The decoder always makes `resources`, so it counts when it has content."""
    value, here = container.get(member), f"{path}.{member}"
    if member == "resources":
        return bool(value) or any(one.startswith(here) for one in options.empties)
    return value is not None or here in options.empties


def _sub_paths(container: Obj, path: str) -> Iterator[str]:
    for index, mount in enumerate(container.get("volumeMounts") or ()):
        for member in ("subPath", "subPathExpr"):
            if mount.get(member):
                yield f"{path}.volumeMounts[{index}].{member}"


def validate_image(container: Obj, path: str) -> Errors:
    """The error for whitespace around the image of a pod's container. Pod templates may have it."""
    image = container.get("image", "")
    if image == image.strip():
        return []
    return [field.invalid(f"{path}.image", image, "must not have leading or trailing whitespace")]


def _validate_common(container: Obj, path: str, around: Surroundings) -> Errors:
    name = container.get("name")
    errors = rules.label(name, f"{path}.name") if name else [field.required(f"{path}.name")]
    if not container.get("image"):
        errors.append(field.required(f"{path}.image"))
    errors += rules.required_word(container, path, "terminationMessagePolicy", _MESSAGE_POLICIES)
    if container.get("ports"):
        errors += _validate_ports(container["ports"], f"{path}.ports")
    if container.get("env"):
        errors += environment.validate(container["env"], f"{path}.env")
    if container.get("envFrom"):
        errors += environment.validate_sets(container["envFrom"], f"{path}.envFrom")
    if container.get("volumeMounts") or container.get("volumeDevices"):
        errors += mounts.validate(container, path, volumes=around.volumes)
    errors += rules.required_word(container, path, "imagePullPolicy", PULL_POLICIES)
    if container.get("resources"):
        requirements = container["resources"]
        errors += resources.validate(requirements, f"{path}.resources", claims=around.claims, options=around.options)
    if container.get("resizePolicy"):
        here = f"{path}.resizePolicy"
        errors += restarts.validate_on_resize(container["resizePolicy"], here, pod_policy=around.restart_policy)
    context = container.get("securityContext")
    if context is not None:
        here, has_host_users = f"{path}.securityContext", around.has_host_users
        errors += security.validate_container(context, here, has_host_users=has_host_users, options=around.options)
    return errors


def _validate_ports(entries: Sequence[Obj], path: str) -> Errors:
    errors: Errors = []
    names: set[str] = set()
    for index, port in enumerate(entries):
        here, name, number = f"{path}[{index}]", port.get("name"), port.get("containerPort")
        if name:
            errors += _validate_port_name(name, f"{here}.name", names)
        if number:
            errors += ports.validate_number(number, f"{here}.containerPort")
        else:
            errors.append(field.required(f"{here}.containerPort"))
        if port.get("hostPort"):
            errors += ports.validate_number(port["hostPort"], f"{here}.hostPort")
        errors += rules.required_word(port, here, "protocol", _PROTOCOLS)
    return errors


def _validate_port_name(name: str, path: str, names: set[str]) -> Errors:
    errors = field.invalid_each(path, name, ports.check_port_name(name))
    if not errors:
        errors = [field.duplicate(path, name)] if name in names else []
        names.add(name)
    return errors


def _validate_host_ports(containers: Sequence[Obj], path: str) -> Errors:
    """The errors for host ports that are used twice."""
    errors: Errors = []
    seen: set[str] = set()
    for number, container in enumerate(containers):
        for index, port in enumerate(container.get("ports") or ()):
            if not port.get("hostPort"):
                continue
            key = f"{port.get('protocol', '')}/{port.get('hostIP', '')}/{port['hostPort']}"
            if key in seen:
                errors.append(field.duplicate(f"{path}[{number}].ports[{index}].hostPort", key))
            seen.add(key)
    return errors
