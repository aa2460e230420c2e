"""PodTolerationRestriction: merges default tolerations into pods, and checks tolerations against the whitelist of the
namespace.

Annotations of the namespace hold both as JSON. Else the configuration counts (`default`, `whitelist`). Pods that are
not BestEffort also tolerate the taint for memory pressure.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import errors
from aio_apiserver.registry.generic.admission.interface import Attributes, Operation, Plugin
from aio_apiserver.registry.generic.lookups import Lookup
from aio_apiserver.registry.generic.resource import resource_of
from aio_apiserver.registry.generic.rest import Foundation
from aio_apiserver.registry.groups.core.namespaces.namespaces import NAMESPACES
from aio_apiserver.registry.groups.core.pods.parts import pod_resources, toleration_texts
from aio_apiserver.registry.plugins.admission.pod_writes import PODS, is_pod
from aio_apiserver.registry.plugins.admission.pods import tolerations
from aio_apiserver.registry.plugins.admission.pods.tolerations import Toleration
from aio_apiserver.storage.interface import Reader

_NAMESPACES = NAMESPACES.resource
_DEFAULTS = "scheduler.alpha.kubernetes.io/defaultTolerations"
_ALLOWED = "scheduler.alpha.kubernetes.io/tolerationsWhitelist"
_MEMORY_PRESSURE = {"key": "node.kubernetes.io/memory-pressure", "operator": "Exists", "effect": "NoSchedule"}
_CONFLICT = "pod tolerations (possibly merged with namespace default tolerations) conflict with its {} whitelist"

Tolerations = Sequence[Toleration]


class Restriction(NamedTuple):
    """Default tolerations and whitelist. None means that the annotation or member is missing."""

    defaults: Tolerations | None = None
    allowed: Tolerations | None = None
    error: str = ""


def make(given: Foundation) -> "PodTolerationRestriction":
    """The plugin as it is configured. Raises ValueError."""
    configuration = given.config.admission_configuration.get(PodTolerationRestriction.name)
    return PodTolerationRestriction(given.storage_for(resource_of(NAMESPACES)), configured(configuration))


def configured(configuration: Any) -> Restriction:
    """The restriction of a configuration. Raises ValueError."""
    if configuration is None:
        return Restriction()
    if not isinstance(configuration, dict):
        raise ValueError("configuration of PodTolerationRestriction: must be a map")
    return Restriction(configuration.get("default"), configuration.get("whitelist"))


class PodTolerationRestriction(Plugin):
    """Looks namespaces up in their storage."""

    name = "PodTolerationRestriction"
    operations = frozenset({Operation.CREATE, Operation.UPDATE})
    resources = frozenset({PODS})

    def __init__(self, namespaces: Reader, of_cluster: Restriction) -> None:
        self._namespaces = Lookup(namespaces, _NAMESPACES, _restriction)
        self._of_cluster = of_cluster

    async def mutate(self, attributes: Attributes) -> None:
        if not is_pod(attributes):
            return
        assert attributes.obj is not None
        spec = attributes.obj["spec"]
        extra: list[Toleration] = []
        if attributes.operation is Operation.CREATE:
            restriction = await self._restriction_of(attributes.namespace)
            defaults = self._of_cluster.defaults if restriction.defaults is None else restriction.defaults
            extra += defaults or ()
        if pod_resources.qos_class(spec) != "BestEffort":
            extra.append(_MEMORY_PRESSURE)
        if extra:
            merged = tolerations.merge(spec.get("tolerations") or (), extra)
            spec["tolerations"] = [dict(one) for one in merged]
        await self.validate(attributes)

    async def validate(self, attributes: Attributes) -> None:
        if not is_pod(attributes):
            return
        assert attributes.obj is not None
        given = attributes.obj["spec"].get("tolerations") or ()
        if not given:
            return
        restriction, scope = await self._restriction_of(attributes.namespace), "namespace"
        if restriction.allowed is None:
            restriction, scope = self._of_cluster, "cluster"
        if not tolerations.all_covered(given, restriction.allowed or ()):
            raise errors.StatusError(_CONFLICT.format(scope))

    async def _restriction_of(self, namespace: str) -> Restriction:
        found = await self._namespaces.get(namespace)
        if found is None:
            raise errors.NotFound(_NAMESPACES, namespace)
        if found.error:
            raise errors.StatusError(found.error)
        return found


def _restriction(namespace: Object) -> Restriction:
    annotations = namespace["metadata"].get("annotations") or {}
    try:
        return Restriction(_tolerations(annotations, _DEFAULTS), _tolerations(annotations, _ALLOWED))
    except ValueError as exc:
        return Restriction(error=str(exc))


def _tolerations(annotations: Mapping[str, str], name: str) -> Tolerations | None:
    text = annotations.get(name)
    if text is None:
        return None
    return toleration_texts.read(text, package="v1") if text else []
