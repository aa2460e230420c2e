"""Probes: validates probes and lifecycle hooks of containers. Pure."""

from collections.abc import Callable, Mapping

from aio_apiserver.registry.base.validation import field, names, ports, values
from aio_apiserver.registry.groups.core.pods.validation import rules
from aio_apiserver.registry.groups.core.pods.validation.rules import Errors, Obj

PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_NUMBERS = ("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold")
_SCHEMES = ("HTTP", "HTTPS")
_GRACE = "terminationGracePeriodSeconds"

Check = Callable[[Obj, str, int | None], Errors]


def validate(container: Obj, path: str, *, grace: int | None) -> Errors:
    """The errors of hooks and probes of a container that keeps running. `grace` is the termination grace period of the
    pod.
    """
    errors: Errors = []
    lifecycle = container.get("lifecycle")
    if lifecycle is not None:
        for hook in ("postStart", "preStop"):
            if lifecycle.get(hook) is not None:
                errors += _validate_handler(lifecycle[hook], f"{path}.lifecycle.{hook}", grace, _HOOK_HANDLERS)
    for name in PROBES:
        if container.get(name) is not None:
            errors += _validate_probe(name, container[name], f"{path}.{name}", grace)
    return errors


def validate_none(container: Obj, path: str) -> Errors:
    """The errors for probes and hooks of an ordinary init container, which may have none."""
    why = "may not be set for init containers without restartPolicy=Always"
    return [
        field.forbidden(f"{path}.{name}", why) for name in ("lifecycle", *PROBES) if container.get(name) is not None
    ]


def _validate_probe(name: str, probe: Obj, path: str, grace: int | None) -> Errors:
    errors = _validate_handler(probe, path, grace, _PROBE_HANDLERS)
    errors += values.not_negative(probe, path, _NUMBERS)
    own_grace, threshold = probe.get(_GRACE), probe.get("successThreshold")
    if own_grace is not None and own_grace <= 0:
        errors.append(field.invalid(f"{path}.{_GRACE}", own_grace, "must be greater than 0"))
    if name == "readinessProbe":
        if own_grace is not None:
            errors.append(field.invalid(f"{path}.{_GRACE}", own_grace, "must not be set for readinessProbes"))
    elif threshold != 1:
        errors.append(field.invalid(f"{path}.successThreshold", threshold or 0, "must be 1"))
    return errors


def _validate_handler(handler: Obj, path: str, grace: int | None, handlers: Mapping[str, Check]) -> Errors:
    """The errors of a probe's or a hook's handler. The first handler is validated, and any other one is forbidden."""
    given = [name for name in handlers if handler.get(name) is not None]
    if not given:
        return [field.required(path, "must specify a handler type")]
    errors = handlers[given[0]](handler[given[0]], f"{path}.{given[0]}", grace)
    errors += [field.forbidden(f"{path}.{name}", "may not specify more than 1 handler type") for name in given[1:]]
    return errors


def _exec(action: Obj, path: str, _grace: int | None) -> Errors:
    return rules.required(action, path, "command")


def _http(action: Obj, path: str, _grace: int | None) -> Errors:
    errors = rules.required(action, path, "path")
    errors += ports.validate(action.get("port"), f"{path}.port")
    if action.get("scheme", "") not in _SCHEMES:
        errors.append(field.not_supported(f"{path}.scheme", action.get("scheme", ""), _SCHEMES))
    for header in action.get("httpHeaders") or ():
        name = header.get("name", "")
        errors += field.invalid_each(f"{path}.httpHeaders", name, names.HTTP_HEADER.check(name))
    return errors


def _port(action: Obj, path: str, _grace: int | None) -> Errors:
    return ports.validate(action.get("port"), f"{path}.port")


def _sleep(action: Obj, path: str, grace: int | None) -> Errors:
    seconds = action.get("seconds") or 0
    if grace is None or 0 <= seconds <= grace:
        return []
    why = f"must be non-negative and less than terminationGracePeriodSeconds ({grace})"
    return [field.invalid(path, seconds, why)]


_PROBE_HANDLERS: Mapping[str, Check] = {"exec": _exec, "httpGet": _http, "tcpSocket": _port, "grpc": _port}
_HOOK_HANDLERS: Mapping[str, Check] = {"exec": _exec, "httpGet": _http, "tcpSocket": _port, "sleep": _sleep}
