"""Secret references: the names of the secrets that a pod refers to. Pure."""

from collections.abc import Iterator, Mapping
from typing import Any

from aio_apiserver.registry.base import objects
from aio_apiserver.registry.plugins.admission.pod_writes import containers_with_paths

_IN_VOLUMES = (
    "azureFile.secretName",
    "cephfs.secretRef.name",
    "cinder.secretRef.name",
    "flexVolume.secretRef.name",
    "rbd.secretRef.name",
    "secret.secretName",
    "scaleIO.secretRef.name",
    "iscsi.secretRef.name",
    "storageos.secretRef.name",
    "csi.nodePublishSecretRef.name",
)


def secret_names(spec: Mapping[str, Any]) -> Iterator[str]:
    """The names in the order of the spec. A name may occur several times."""
    return filter(None, _names(spec))


def _names(spec: Mapping[str, Any]) -> Iterator[str]:
    for reference in spec.get("imagePullSecrets") or ():
        yield reference.get("name", "")
    for container, _ in containers_with_paths(spec):
        for source in container.get("envFrom") or ():
            yield objects.get(source, "secretRef.name", "")
        for variable in container.get("env") or ():
            yield objects.get(variable, "valueFrom.secretKeyRef.name", "")
    for volume in spec.get("volumes") or ():
        for path in _IN_VOLUMES:
            yield objects.get(volume, path, "")
        for source in objects.get(volume, "projected.sources", ()):
            yield objects.get(source, "secret.name", "")
