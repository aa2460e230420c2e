"""resource_metrics: NodeMetrics and PodMetrics of metrics.k8s.io, which metrics-server serves in a real cluster.

They are computed at each read from the pods and nodes of a simulated cluster. Nothing is stored, and there is no watch.
Must hold: pods that do not run, and nodes that are not ready, have no metrics.
"""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence

from msgspec import Struct

from aio_apiserver.base.clock import Clock
from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import conditions, errors, objects
from aio_apiserver.registry.base.names import GroupVersionKind
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.lookups import Lookup, as_stored
from aio_apiserver.registry.generic.resource import resource_of
from aio_apiserver.registry.generic.rest import Environment, Request, timestamp
from aio_apiserver.registry.groups.apiextensions.definitions import definition
from aio_apiserver.registry.groups.apiextensions.serving.offer import Offer
from aio_apiserver.registry.groups.core.nodes.nodes import NODES
from aio_apiserver.registry.groups.core.pods.pods import PODS
from aio_apiserver.registry.machinery.custom_types.custom_type import CustomType
from aio_apiserver.registry.machinery.printing.columns import NAME, Column, table_of, value
from aio_apiserver.registry.plugins.simulation import usage
from aio_apiserver.registry.plugins.simulation.usage import Usage
from aio_apiserver.storage.interface import ListOptions, ListResult
from aio_apiserver.storage.stored_object import ObjectReader, StoredObject

GROUP, VERSION = "metrics.k8s.io", "v1beta1"
_WINDOW = "15s"
_READERS = ("admin", "edit", "view")
READER: Object = {
    "metadata": {
        "name": "system:aggregated-metrics-reader",
        "labels": {f"rbac.authorization.k8s.io/aggregate-to-{role}": "true" for role in _READERS},
    },
    "rules": [{"apiGroups": [GROUP], "resources": ["pods", "nodes"], "verbs": ["get", "list", "watch"]}],
}
"""The ClusterRole by which metrics-server lets the users of the default roles read metrics."""
_VERBS = ("get", "list")
_NODE_COLUMNS = table_of(
    NAME,
    (Column(name="cpu", text="CPU in use"), value("usage.cpu")),
    (Column(name="memory", text="memory in use"), value("usage.memory")),
    (Column(name="Window", text="the time over which the usage was measured"), value("window")),
)
_POD_COLUMNS = table_of(
    NAME,
    (Column(name="cpu", text="CPU in use"), lambda obj, _now: _summed(obj)[usage.CPU]),
    (Column(name="memory", text="memory in use"), lambda obj, _now: _summed(obj)[usage.MEMORY]),
    (Column(name="Window", text="the time over which the usage was measured"), value("window")),
)


def _summed(metrics: Object) -> Mapping[str, str]:
    found = (one["usage"] for one in metrics.get("containers") or ())
    return usage.printed(usage.total(usage.read(one) for one in found))


def _unreadable(_data: bytes) -> Object:
    raise ValueError("metrics are never stored")


def _fields(obj: Object) -> Mapping[str, str]:
    metadata = obj["metadata"]
    return {"metadata.name": metadata["name"], "metadata.namespace": metadata.get("namespace", "")}


_READER = ObjectReader(_unreadable, _fields)


class _Cluster(Struct, frozen=True):
    """The pods and nodes of the server's own store."""

    pods: Lookup[Object]
    nodes: Lookup[Object]
    clock: Clock

    async def of_pods(self, namespace: str) -> list[StoredObject]:
        """The metrics of the running pods of one namespace, or of all."""
        found = []
        async for pod in self._running(f"{namespace}/" if namespace else ""):
            containers = [{"name": name, "usage": usage.printed(one)} for name, one in usage.of_pod(pod)]
            found.append(self._metrics(pod, containers=containers))
        return found

    async def of_nodes(self) -> list[StoredObject]:
        """The metrics of the ready nodes: the sums of their pods."""
        used: dict[str, list[Usage]] = {}
        async for pod in self._running(""):
            used.setdefault(pod["spec"].get("nodeName", ""), []).extend(one for _, one in usage.of_pod(pod))
        ready = [node async for node in self.nodes.scan() if _is_ready(node)]
        sums = [usage.printed(usage.total(used.get(node["metadata"]["name"], ()))) for node in ready]
        return [self._metrics(node, usage=one) for node, one in zip(ready, sums, strict=True)]

    async def _running(self, scope: str) -> AsyncIterator[Object]:
        async for pod in self.pods.scan(scope):
            if objects.get(pod, "status.phase") == "Running":
                yield pod

    def _metrics(self, about: Object, **measured: object) -> StoredObject:
        metadata, now = about["metadata"], timestamp(self.clock.now())
        own = {name: metadata[name] for name in ("name", "namespace", "labels") if metadata.get(name)}
        obj = {"metadata": {**own, "creationTimestamp": now}, "timestamp": now, "window": _WINDOW, **measured}
        namespace = metadata.get("namespace")
        key = f"{namespace}/{metadata['name']}" if namespace else metadata["name"]
        return StoredObject.of(key, 0, obj, _READER)


def _is_ready(node: Object) -> bool:
    return conditions.is_true(node.get("status") or {}, "Ready")


class MetricsREST:
    """The metrics of all pods, or of all nodes."""

    def __init__(self, kind: Kind, cluster: _Cluster) -> None:
        self._kind = kind
        self._cluster = cluster

    @property
    def kind(self) -> Kind:
        return self._kind

    def object_kind(self, version: str) -> GroupVersionKind:
        return self._kind.object_kind(version)

    async def get(self, request: Request, name: str, *, resource_version: int | None = None) -> StoredObject:
        for one in await self._all(request.namespace):
            if one.fields["metadata.name"] == name:
                return one
        raise errors.NotFound(self._kind.resource, name)

    async def list(self, request: Request, options: ListOptions) -> ListResult:
        return ListResult(options.predicate.select(await self._all(request.namespace)), revision=0)

    async def _all(self, namespace: str) -> Sequence[StoredObject]:
        return await (self._cluster.of_pods(namespace) if self._kind.is_namespaced else self._cluster.of_nodes())


def offers(environment: Environment) -> Iterator[tuple[str, Offer]]:
    """The two resources with their names, as the server serves custom resources."""
    cluster = _Cluster(_lookup(PODS, environment), _lookup(NODES, environment), environment.clock)
    for about, name, columns in ((NODES, "NodeMetrics", _NODE_COLUMNS), (PODS, "PodMetrics", _POD_COLUMNS)):
        kind = Kind(
            group=GROUP,
            plural=about.plural,
            kind=name,
            versions=(VERSION,),
            is_namespaced=about.is_namespaced,
            verbs=_VERBS,
            custom_type=CustomType(lambda: None, environment.types, prunes=False),
            columns=columns,
        )
        yield _described(kind), Offer(_definition(kind), {VERSION: {kind.plural: MetricsREST(kind, cluster)}}, {})


def _lookup(kind: Kind, environment: Environment) -> Lookup[Object]:
    return Lookup(environment.storage_for(resource_of(kind)), kind.resource, as_stored)


def _described(kind: Kind) -> str:
    return f"{kind.plural}.{kind.group}"


def _definition(kind: Kind) -> definition.Definition:
    """The definition by which discovery knows a resource. It is not among the CustomResourceDefinitions."""
    names = {"plural": kind.plural, "singular": kind.singular, "kind": kind.kind, "listKind": kind.list_kind}
    established = [{"type": one, "status": "True"} for one in ("NamesAccepted", "Established")]
    crd: Object = {
        "metadata": {"name": _described(kind)},
        "spec": {
            "group": kind.group,
            "names": names,
            "scope": "Namespaced" if kind.is_namespaced else "Cluster",
            "versions": [{"name": one, "served": True, "storage": True} for one in kind.versions],
        },
        "status": {"acceptedNames": names, "conditions": established, "storedVersions": list(kind.versions)},
    }
    return definition.parse(StoredObject.of(_described(kind), 0, crd, _READER))
