"""Node tokens: checks TokenRequests of kubelets: bound to a pod on the node, for an audience that the pod uses.

A pod uses the audiences of its projected tokens, and those of the CSI drivers behind its volumes.
"""

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import errors, objects
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.base.names import GroupResource
from aio_apiserver.registry.generic.access.authorizer import Attributes as Question
from aio_apiserver.registry.generic.access.authorizer import Authorizer
from aio_apiserver.registry.generic.admission import refusals
from aio_apiserver.registry.generic.admission.interface import Attributes
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.lookups import Lookup, as_stored
from aio_apiserver.registry.generic.resource import resource_of
from aio_apiserver.registry.generic.rest import Foundation
from aio_apiserver.registry.groups.core.nodes.nodes import NODES
from aio_apiserver.registry.groups.core.pods.pods import PODS
from aio_apiserver.registry.groups.core.volumes.persistentvolumeclaims import PERSISTENTVOLUMECLAIMS
from aio_apiserver.registry.groups.core.volumes.persistentvolumes import PERSISTENTVOLUMES
from aio_apiserver.registry.groups.storage.csidrivers import CSIDRIVERS

_VERB = "request-serviceaccounts-token-audience"
_SUCCESSORS = {
    "awsElasticBlockStore": "ebs.csi.aws.com",
    "azureDisk": "disk.csi.azure.com",
    "azureFile": "file.csi.azure.com",
    "cinder": "cinder.csi.openstack.org",
    "gcePersistentDisk": "pd.csi.storage.gke.io",
    "portworxVolume": "pxd.portworx.com",
    "vsphereVolume": "csi.vsphere.vmware.com",
}
"""The CSI drivers that replace in-tree volume plugins."""


class NodeObjects:
    """Cached lookups of the objects that decide about a kubelet's request."""

    def __init__(self, given: Foundation) -> None:
        self.authorizer: Authorizer = given.authorizer
        self.pods = self._cached(given, PODS)
        self.nodes = self._cached(given, NODES)
        self.claims = self._cached(given, PERSISTENTVOLUMECLAIMS)
        self.volumes = self._cached(given, PERSISTENTVOLUMES)
        self.drivers = self._cached(given, CSIDRIVERS)

    @staticmethod
    def _cached(given: Foundation, kind: Kind) -> Lookup[Object]:
        return Lookup(given.storage_for(resource_of(kind)), kind.resource, as_stored)

    async def pod(self, namespace: str, name: str) -> Object:
        """A pod. Raises NotFound."""
        return _or_not_found(await self.pods.get(f"{namespace}/{name}"), PODS, name)

    async def node(self, name: str) -> Object:
        """A node. Raises NotFound."""
        return _or_not_found(await self.nodes.get(name), NODES, name)

    async def driver(self, name: str) -> Object:
        """A CSI driver. Raises NotFound."""
        return _or_not_found(await self.drivers.get(name), CSIDRIVERS, name)

    async def driver_of_claim(self, namespace: str, name: str) -> str:
        """The CSI driver of a claim's volume; empty when the volume has none. Raises NotFound."""
        claim = _or_not_found(await self.claims.get(f"{namespace}/{name}"), PERSISTENTVOLUMECLAIMS, name)
        bound = objects.get(claim, "spec.volumeName", "")
        volume = _or_not_found(await self.volumes.get(bound) if bound else None, PERSISTENTVOLUMES, bound)
        return _driver_in(volume["spec"])


def _driver_in(source: Object) -> str:
    """The CSI driver of a volume, also of an in-tree volume that was migrated to CSI; empty when there is none."""
    driver: str = objects.get(source, "csi.driver", "")
    return driver or next((driver for name, driver in _SUCCESSORS.items() if source.get(name) is not None), "")


def _or_not_found(obj: Object | None, kind: Kind, name: str) -> Object:
    """The object. Raises NotFound with the message of an informer's lister, which has the kind in the singular."""
    if obj is None:
        raise errors.NotFound(GroupResource(kind.group, kind.kind.lower()), name)
    return obj


async def admit(known: NodeObjects, attributes: Attributes, node: str) -> None:
    """Refuse a token that the node does not need. Raises Forbidden."""
    assert attributes.obj is not None
    reference = objects.get(attributes.obj, "spec.boundObjectRef") or {}
    is_pod = reference.get("apiVersion") == "v1" and reference.get("kind") == "Pod"
    if not is_pod or not reference.get("name"):
        raise refusals.forbidden(attributes, "node requested token not bound to a pod")
    uid = reference.get("uid", "")
    if not uid:
        raise refusals.forbidden(attributes, "node requested token with a pod binding without a uid")
    pod = await known.pod(attributes.namespace, reference["name"])
    if uid != pod["metadata"]["uid"]:
        raise refusals.forbidden(
            attributes,
            f"the UID in the bound object reference ({uid}) does not match the UID in record. "
            "The object might have been deleted and then recreated",
        )
    if objects.get(pod, "spec.nodeName", "") != node:
        raise refusals.forbidden(attributes, "node requested token bound to a pod scheduled on a different node")
    await _admit_audience(known, attributes, pod)


async def _admit_audience(known: NodeObjects, attributes: Attributes, pod: Object) -> None:
    assert attributes.obj is not None
    audiences = objects.get(attributes.obj, "spec.audiences", ())
    if len(audiences) > 1:
        raise refusals.forbidden(attributes, "node may only request 0 or 1 audiences")
    audience = audiences[0] if audiences else ""
    missing: list[str] = []
    if await _mentions(known, pod, audience, missing):
        return
    if missing:
        why = f"error validating audience {quote(audience)}: {errors.aggregate(missing)}"
        raise refusals.forbidden(attributes, why)
    question = Question(
        user=attributes.user,
        verb=_VERB,
        version="v1",
        resource=audience,
        namespace=attributes.namespace,
        name=attributes.name,
    )
    if not (await known.authorizer.authorize(question)).is_allowed:
        why = f"{attributes.user.name} is not authorized to request tokens for this audience"
        raise refusals.forbidden(attributes, f"audience {quote(audience)} not found in pod spec volume, {why}")


async def _mentions(known: NodeObjects, pod: Object, audience: str, missing: list[str]) -> bool:
    """Whether a volume of the pod uses an audience. Errors of lookups are added to `missing`."""
    for volume in objects.get(pod, "spec.volumes", ()):
        tokens = [one.get("serviceAccountToken") for one in objects.get(volume, "projected.sources", ())]
        if any(token is not None and token.get("audience", "") == audience for token in tokens):
            return True
        try:
            name = await _driver_of(known, pod, volume)
            requests = objects.get(await known.driver(name), "spec.tokenRequests", ()) if name else ()
        except errors.NotFound as exc:
            missing.append(exc.message)
            continue
        if any(request.get("audience", "") == audience for request in requests):
            return True
    return False


async def _driver_of(known: NodeObjects, pod: Object, volume: Object) -> str:
    """The CSI driver behind a pod's volume; empty when there is none. Raises NotFound."""
    claim: str = objects.get(volume, "persistentVolumeClaim.claimName", "")
    if objects.get(volume, "ephemeral.volumeClaimTemplate") is not None:
        claim = f"{pod['metadata']['name']}-{volume.get('name', '')}"
    if not claim:
        return _driver_in(volume)
    return await known.driver_of_claim(pod["metadata"]["namespace"], claim)
