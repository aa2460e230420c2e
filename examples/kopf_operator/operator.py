"""An operator with kopf. It writes a config map, the status and an event for each Greeting.

kopf adds a finalizer to the Greeting. The Greeting is deleted after the operator has deleted the config map.
"""

from typing import Any

import kopf
from kubernetes import client

GROUP, VERSION, PLURAL = "example.com", "v1", "greetings"
LABEL = "example.com/greeting"
_CONFLICT, _NOT_FOUND = 409, 404
_PAUSE_SECONDS = 0.05


def text_for(who: str) -> str:
    """The text of a greeting."""
    return f"Hello, {who}!"


def register(registry: kopf.OperatorRegistry) -> None:
    """Register the handlers. They find the API client in `memo.api`."""
    for reason in (kopf.on.resume, kopf.on.create):
        reason(GROUP, VERSION, PLURAL, registry=registry)(greet)
    kopf.on.update(GROUP, VERSION, PLURAL, field="spec.who", registry=registry)(greet)
    kopf.on.delete(GROUP, VERSION, PLURAL, registry=registry)(take_back)


def greet(
    *, body: kopf.Body, spec: kopf.Spec, name: str, namespace: str | None, patch: kopf.Patch, memo: Any, **_: Any
) -> None:
    """Bring the config map and the status of a greeting up to date."""
    if spec["who"] == "nobody":
        raise kopf.PermanentError("there is nobody to greet")
    text = text_for(spec["who"])
    child = client.V1ConfigMap(metadata=client.V1ObjectMeta(name=name), data={"text": text})
    kopf.adopt(child, owner=body)
    kopf.label(child, {LABEL: name})
    _put(client.CoreV1Api(memo.api), name, str(namespace), child=child)
    patch.status["text"] = text
    kopf.info(body, reason="Greeted", message=text)


def take_back(*, name: str, namespace: str | None, memo: Any, **_: Any) -> None:
    """Delete the config map of a greeting that is being deleted."""
    try:
        client.CoreV1Api(memo.api).delete_namespaced_config_map(name, str(namespace))
    except client.ApiException as exc:
        if exc.status != _NOT_FOUND:
            raise kopf.TemporaryError(f"cannot delete: {exc.reason}", delay=_PAUSE_SECONDS) from exc


def _put(core: client.CoreV1Api, name: str, namespace: str, *, child: client.V1ConfigMap) -> None:
    """Create or patch the config map. kopf repeats the handler after an error that may be temporary."""
    try:
        core.create_namespaced_config_map(namespace, child)
    except client.ApiException as exc:
        if exc.status != _CONFLICT:
            raise kopf.TemporaryError(f"cannot create: {exc.reason}", delay=_PAUSE_SECONDS) from exc
        core.patch_namespaced_config_map(name, namespace, child)
