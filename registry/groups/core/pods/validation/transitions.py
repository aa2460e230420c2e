"""Transitions: validates that a terminated container runs again where a restart policy or rule allows it. Pure."""

from collections.abc import Callable, Sequence

from aio_apiserver.registry.base.validation import field
from aio_apiserver.registry.groups.core.pods.validation.rules import Errors, Obj

_WHY = "may not be transitioned to non-terminated state"


def validate(new: Obj, old: Obj, spec: Obj) -> Errors:
    """The errors of all container statuses."""
    errors: Errors = []
    if not _all_may_restart(spec):
        for name, members in (("containerStatuses", "containers"), ("initContainerStatuses", "initContainers")):
            may_restart = _restarter(spec, members)
            errors += _validate(new.get(name) or (), old.get(name) or (), f"status.{name}", may_restart=may_restart)
    name = "ephemeralContainerStatuses"
    return errors + _validate(new.get(name) or (), old.get(name) or (), f"status.{name}", may_restart=_never)


def _never(_name: str, _code: int) -> bool:
    return False


def _restarter(spec: Obj, members: str) -> Callable[[str, int], bool]:
    """A function that tells whether a container may restart after an exit code."""
    containers = {container.get("name", ""): container for container in reversed(spec.get(members) or ())}

    def may_restart(name: str, code: int) -> bool:
        return name in containers and _should_restart(containers[name], spec, code)

    return may_restart


def _validate(new: Sequence[Obj], old: Sequence[Obj], path: str, *, may_restart: Callable[[str, int], bool]) -> Errors:
    errors: Errors = []
    for index, before in enumerate(old):
        terminated = _terminated(before)
        if terminated is None:
            continue
        name = before.get("name", "")
        is_running = any(one.get("name", "") == name and _terminated(one) is None for one in new)
        if is_running and not may_restart(name, terminated.get("exitCode", 0)):
            errors.append(field.forbidden(f"{path}[{index}].state", _WHY))
    return errors


def _terminated(status: Obj) -> Obj | None:
    terminated: Obj | None = (status.get("state") or {}).get("terminated")
    return terminated


def _all_may_restart(spec: Obj) -> bool:
    """Whether a rule of any container restarts all containers."""
    return any(
        rule.get("action") == "RestartAllContainers"
        for member in ("initContainers", "containers")
        for container in spec.get(member) or ()
        for rule in container.get("restartPolicyRules") or ()
    )


def _should_restart(container: Obj, spec: Obj, code: int) -> bool:
    """Whether the container restarts: its rules first, then its own policy, then the policy of the pod."""
    policy = container.get("restartPolicy")
    if policy is not None and _has_rule(container, code):
        return True
    match policy or spec.get("restartPolicy"):
        case "OnFailure":
            return code != 0
        case "Never":
            return False
        case _:
            return True


def _has_rule(container: Obj, code: int) -> bool:
    """Whether the first rule that matches the exit code is a restart."""
    for rule in container.get("restartPolicyRules") or ():
        codes = rule.get("exitCodes") or {}
        values = codes.get("values") or ()
        fits = {"In": code in values, "NotIn": code not in values}
        if fits.get(codes.get("operator", ""), False):
            return rule.get("action") in {"Restart", "RestartAllContainers"}
    return False
