"""PodNodeSelector: adds the node selector of the namespace, or of the configuration, to pods.

podNodeSelectorPluginConfig:
  clusterDefaultNodeSelector: env=test  # for namespaces without the annotation
  some-namespace: env=prod              # the labels that pods of this namespace may select
"""

from collections.abc import Mapping
from typing import Any

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import errors
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.base.validation import names
from aio_apiserver.registry.generic.admission.interface import Attributes, Operation, Plugin
from aio_apiserver.registry.generic.lookups import Lookup
from aio_apiserver.registry.generic.resource import resource_of
from aio_apiserver.registry.generic.rest import Foundation
from aio_apiserver.registry.groups.core.namespaces.namespaces import NAMESPACES
from aio_apiserver.registry.plugins.admission.pod_writes import PODS, is_pod
from aio_apiserver.storage.interface import Reader

_NAMESPACES = NAMESPACES.resource
_ANNOTATION = "scheduler.alpha.kubernetes.io/node-selector"
_SETTINGS = "podNodeSelectorPluginConfig"
_DEFAULT = "clusterDefaultNodeSelector"
_CONFLICT = "pod node label selector conflicts with its namespace node label selector"
_NOT_ALLOWED = "pod node label selector labels conflict with its namespace whitelist"


def make(given: Foundation) -> "PodNodeSelector":
    """The plugin as it is configured."""
    configuration = given.config.admission_configuration.get(PodNodeSelector.name)
    return PodNodeSelector(given.storage_for(resource_of(NAMESPACES)), settings_of(configuration))


def settings_of(configuration: Any) -> Mapping[str, str]:
    """The selectors of a configuration as text, by namespace."""
    settings = configuration.get(_SETTINGS) if isinstance(configuration, dict) else None
    return {str(name): str(selector) for name, selector in (settings or {}).items()}


class PodNodeSelector(Plugin):
    """Looks namespaces up in their storage."""

    name = "PodNodeSelector"
    operations = frozenset({Operation.CREATE})
    resources = frozenset({PODS})

    def __init__(self, namespaces: Reader, settings: Mapping[str, str]) -> None:
        self._namespaces: Lookup[str | None] = Lookup(namespaces, _NAMESPACES, _annotation)
        self._settings = settings

    async def mutate(self, attributes: Attributes) -> None:
        if not is_pod(attributes):
            return
        assert attributes.obj is not None
        selector = await self._selector(attributes)
        if merged := {**selector, **(attributes.obj["spec"].get("nodeSelector") or {})}:
            attributes.obj["spec"]["nodeSelector"] = merged
        await self.validate(attributes)

    async def validate(self, attributes: Attributes) -> None:
        if not is_pod(attributes):
            return
        assert attributes.obj is not None
        await self._selector(attributes)
        given = attributes.obj["spec"].get("nodeSelector") or {}
        allowed = _labels(self._settings.get(attributes.namespace, ""))
        if allowed and not given.items() <= allowed.items():
            raise _refusal(attributes, _NOT_ALLOWED)

    async def _selector(self, attributes: Attributes) -> Mapping[str, str]:
        """The node selector of the namespace. Raises Forbidden when the pod's own selector conflicts with it."""
        assert attributes.obj is not None
        annotation = await self._namespaces.get(attributes.namespace)
        selector = _labels(self._settings.get(_DEFAULT, "") if annotation is None else annotation)
        given = attributes.obj["spec"].get("nodeSelector") or {}
        if any(given.get(name, value) != value for name, value in selector.items()):
            raise _refusal(attributes, _CONFLICT)
        return selector


def _annotation(namespace: Object) -> str | None:
    annotation: str | None = (namespace["metadata"].get("annotations") or {}).get(_ANNOTATION)
    return annotation


def _refusal(attributes: Attributes, why: str) -> errors.Forbidden:
    assert attributes.obj is not None
    return errors.Forbidden(PODS, attributes.obj["metadata"].get("name", ""), why=why)


def _labels(selector: str) -> Mapping[str, str]:
    """The labels in `a=b,c=d`. Raises a bare StatusError."""
    labels: dict[str, str] = {}
    for term in selector.split(",") if selector else ():
        parts = term.split("=")
        if len(parts) != 2:
            raise errors.StatusError(f"invalid selector: [{' '.join(parts)}]")
        key, value = parts[0].strip(), parts[1].strip()
        if wrong := names.check_qualified_name(key):
            raise errors.StatusError(f"<nil>: Invalid value: {quote(key)}: {'; '.join(wrong)}")
        if wrong := names.check_label_value(value):
            raise errors.StatusError(f"[{key}]: Invalid value: {quote(value)}: {'; '.join(wrong)}")
        labels[key] = value
    return labels
