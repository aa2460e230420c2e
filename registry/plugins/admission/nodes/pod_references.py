"""Pod references: the objects of the API that a pod refers to. A mirror pod, which a kubelet creates, may refer to
none.

Pure.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from aio_apiserver.registry.base import objects
from aio_apiserver.registry.groups.core.config.configmaps import CONFIGMAPS
from aio_apiserver.registry.groups.core.config.secrets import SECRETS
from aio_apiserver.registry.groups.core.serviceaccounts.serviceaccounts import SERVICEACCOUNTS
from aio_apiserver.registry.groups.core.volumes.persistentvolumeclaims import PERSISTENTVOLUMECLAIMS
from aio_apiserver.registry.plugins.admission.pod_writes import containers_with_paths
from aio_apiserver.registry.plugins.admission.secret_references import secret_names

_VOLUMES = {
    "configMap": "configmaps (via configmap volumes)",
    "secret": "secrets (via secret volumes)",
    "csi": "csidrivers (via CSI volumes)",
    "glusterfs": "endpoints (via glusterFS volumes)",
    "persistentVolumeClaim": PERSISTENTVOLUMECLAIMS.plural,
    "ephemeral": "persistentvolumeclaims (via ephemeral volumes)",
    "azureFile": "secrets (via azureFile volumes)",
}
_PROJECTIONS = {
    "configMap": "configmaps (via projected volumes)",
    "secret": "secrets (via projected volumes)",
    "serviceAccountToken": "serviceaccounts (via projected volumes)",
    "clusterTrustBundle": "clustertrustbundles",
    "podCertificate": "podcertificates",
}


def first_reference(spec: Mapping[str, Any]) -> str:
    """The first resource that a pod refers to; empty when it refers to none."""
    return next(_references(spec), "")


def _references(spec: Mapping[str, Any]) -> Iterator[str]:
    if spec.get("serviceAccountName"):
        yield SERVICEACCOUNTS.plural
    if any(True for _ in secret_names(spec)):
        yield SECRETS.plural
    if any(True for _ in _config_map_names(spec)):
        yield CONFIGMAPS.plural
    if spec.get("resourceClaims"):
        yield "resourceclaims"
    for volume in spec.get("volumes") or ():
        yield from (what for source, what in _VOLUMES.items() if volume.get(source) is not None)
        for projection in objects.get(volume, "projected.sources", ()):
            yield from (what for source, what in _PROJECTIONS.items() if projection.get(source) is not None)


def _config_map_names(spec: Mapping[str, Any]) -> Iterator[str]:
    for container, _ in containers_with_paths(spec):
        for source in container.get("envFrom") or ():
            yield from filter(None, [objects.get(source, "configMapRef.name")])
        for variable in container.get("env") or ():
            yield from filter(None, [objects.get(variable, "valueFrom.configMapKeyRef.name")])
    for volume in spec.get("volumes") or ():
        yield from filter(None, [objects.get(volume, "configMap.name")])
        for source in objects.get(volume, "projected.sources", ()):
            yield from filter(None, [objects.get(source, "configMap.name")])
