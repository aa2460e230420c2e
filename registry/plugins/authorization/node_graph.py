"""Node graph: the objects that a node may read because of its pods: secrets, config maps, claims, volumes, accounts.

    secret -> pod -> node    secret -> volume -> claim -> pod -> node

Pure. Must hold: an object is readable for the nodes that it is related to, and for no other node. A mirror pod makes no
further object readable.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from msgspec import Struct

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import objects
from aio_apiserver.registry.groups.core.config.configmaps import CONFIGMAPS
from aio_apiserver.registry.groups.core.config.secrets import SECRETS
from aio_apiserver.registry.groups.core.pods.pods import PODS
from aio_apiserver.registry.groups.core.serviceaccounts.serviceaccounts import SERVICEACCOUNTS
from aio_apiserver.registry.groups.core.volumes.persistentvolumeclaims import PERSISTENTVOLUMECLAIMS
from aio_apiserver.registry.groups.core.volumes.persistentvolumes import PERSISTENTVOLUMES
from aio_apiserver.registry.groups.resource.resourceclaims import RESOURCECLAIMS
from aio_apiserver.registry.plugins.admission.pod_writes import containers_with_paths
from aio_apiserver.registry.plugins.admission.secret_references import secret_names

_MIRROR = "kubernetes.io/config.mirror"


class Vertex(NamedTuple):
    """An object in the graph. `resource` is the plural name."""

    resource: str
    namespace: str
    name: str


class Reach(Struct, frozen=True):
    """The objects that one object makes readable, for its node or for the nodes of a claim."""

    node: str
    seen: frozenset[Vertex]
    claim: Vertex | None = None


def reach_of_pod(pod: Object) -> Reach | None:
    """The reach of a pod; None before it has a node."""
    node = objects.get(pod, "spec.nodeName", "")
    return Reach(node, frozenset(_seen_by_pod(pod))) if node else None


def reach_of_volume(volume: Object) -> Reach | None:
    """The reach of a volume; None before it has a claim."""
    claim = objects.get(volume, "spec.claimRef")
    if claim is None:
        return None
    bound_to = Vertex(PERSISTENTVOLUMECLAIMS.plural, claim.get("namespace", ""), claim.get("name", ""))
    seen = {
        Vertex(PERSISTENTVOLUMES.plural, "", volume["metadata"]["name"]),
        *_secrets_of_volume(volume, bound_to.namespace),
    }
    return Reach("", frozenset(seen), bound_to)


def reach_of_named(resource: str, obj: Object) -> Reach | None:
    """The reach of an object with spec.nodeName, which makes itself readable and nothing else."""
    node = objects.get(obj, "spec.nodeName", "")
    metadata = obj["metadata"]
    seen = Vertex(resource, metadata.get("namespace", ""), metadata["name"])
    return Reach(node, frozenset({seen})) if node else None


def _seen_by_pod(pod: Object) -> Iterator[Vertex]:
    metadata, spec = pod["metadata"], pod["spec"]
    namespace, name = metadata["namespace"], metadata["name"]
    yield Vertex(PODS.plural, namespace, name)
    if _MIRROR in (metadata.get("annotations") or {}):
        return
    if account := spec.get("serviceAccountName"):
        yield Vertex(SERVICEACCOUNTS.plural, namespace, account)
    yield from (Vertex(SECRETS.plural, namespace, secret) for secret in secret_names(spec))
    yield from (Vertex(CONFIGMAPS.plural, namespace, one) for one in _config_map_names(spec))
    yield from (Vertex(PERSISTENTVOLUMECLAIMS.plural, namespace, claim) for claim in _claim_names(name, spec))
    yield from (Vertex(RESOURCECLAIMS.plural, namespace, claim) for claim in _resource_claim_names(pod))


def _config_map_names(spec: Object) -> Iterator[str]:
    return filter(None, _config_maps(spec))


def _config_maps(spec: Object) -> Iterator[str]:
    for container, _ in containers_with_paths(spec):
        for source in container.get("envFrom") or ():
            yield objects.get(source, "configMapRef.name", "")
        for variable in container.get("env") or ():
            yield objects.get(variable, "valueFrom.configMapKeyRef.name", "")
    for volume in spec.get("volumes") or ():
        yield objects.get(volume, "configMap.name", "")
        for source in objects.get(volume, "projected.sources", ()):
            yield objects.get(source, "configMap.name", "")


def _claim_names(pod: str, spec: Object) -> Iterator[str]:
    for volume in spec.get("volumes") or ():
        if claim := objects.get(volume, "persistentVolumeClaim.claimName"):
            yield claim
        elif volume.get("ephemeral") is not None:
            yield f"{pod}-{volume['name']}"


def _resource_claim_names(pod: Object) -> Iterator[str]:
    made = {one["name"]: one.get("resourceClaimName") for one in objects.get(pod, "status.resourceClaimStatuses", ())}
    for claim in pod["spec"].get("resourceClaims") or ():
        if name := claim.get("resourceClaimName") or made.get(claim["name"]):
            yield name
    if extended := objects.get(pod, "status.extendedResourceClaimStatus.resourceClaimName"):
        yield extended


_VOLUME_SECRETS = (
    "cephfs.secretRef",
    "cinder.secretRef",
    "flexVolume.secretRef",
    "rbd.secretRef",
    "scaleIO.secretRef",
    "iscsi.secretRef",
    "storageos.secretRef",
    "csi.nodePublishSecretRef",
    "csi.nodeStageSecretRef",
    "csi.nodeExpandSecretRef",
)
"""The paths of secret references that a kubelet reads."""


def _secrets_of_volume(volume: Object, claim_namespace: str) -> Iterator[Vertex]:
    spec = volume["spec"]
    azure: dict[str, Any] = spec.get("azureFile") or {}
    references = [objects.get(spec, path, {}) for path in _VOLUME_SECRETS]
    references.append({"name": azure.get("secretName", ""), "namespace": azure.get("secretNamespace")})
    for reference in references:
        if reference.get("name"):
            yield Vertex(SECRETS.plural, reference.get("namespace") or claim_namespace, reference["name"])


class NodeGraph:
    """The objects that each node may read."""

    def __init__(self) -> None:
        self._reaches: dict[Vertex, Reach] = {}
        self._nodes: dict[Vertex, Counter[str]] = {}
        self._claims: dict[Vertex, Counter[Vertex]] = {}

    def put(self, source: Vertex, reach: Reach | None) -> None:
        """Set what an object makes readable, in place of its old reach; None for a deleted object."""
        old = self._reaches.pop(source, None)
        if reach is not None:
            self._reaches[source] = reach
            self._count(reach, 1)
        if old is not None:
            self._count(old, -1)

    def sees(self, node: str, wanted: Vertex) -> bool:
        """Whether a node may read an object, because of a pod or of a volume of a pod."""
        if node in self._nodes.get(wanted, ()):
            return True
        return any(node in self._nodes.get(claim, ()) for claim in self._claims.get(wanted, ()))

    def _count(self, reach: Reach, change: int) -> None:
        for seen in reach.seen:
            if reach.claim is not None:
                _add(self._claims, seen, reach.claim, change)
            else:
                _add(self._nodes, seen, reach.node, change)


def _add(counts: dict[Vertex, Counter[Any]], seen: Vertex, through: Any, change: int) -> None:
    counter = counts.setdefault(seen, Counter())
    counter[through] += change
    if not counter[through]:
        del counter[through]
    if not counter:
        del counts[seen]
