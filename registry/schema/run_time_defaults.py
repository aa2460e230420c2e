"""The defaults of Kubernetes' own types that are true of every object, whatever else it says.

kube-apiserver applies them to each object that it reads; the published definitions leave them out. Defaults that depend
on the rest of an object are rules of its kind and are not here. `protocol` must be: it is a key of lists of ports.
"""

from collections.abc import Mapping
from typing import Any

from registry.schema.model import MISSING


def default(definition: str, field: str) -> Any:
    """The default of a field; MISSING when it has none."""
    return _DEFAULTS.get(f"{definition.rpartition('.')[2]}.{field}", MISSING)


_DEFAULTS: Mapping[str, Any] = {
    "AzureDiskVolumeSource.cachingMode": "ReadWrite",
    "AzureDiskVolumeSource.fsType": "ext4",
    "AzureDiskVolumeSource.kind": "Shared",
    "AzureDiskVolumeSource.readOnly": False,
    "ContainerPort.protocol": "TCP",
    "DeviceToleration.operator": "Equal",
    "FileKeySelector.optional": False,
    "GRPCAction.service": "",
    "ISCSIPersistentVolumeSource.iscsiInterface": "default",
    "ISCSIVolumeSource.iscsiInterface": "default",
    "PodCertificateRequestSpec.maxExpirationSeconds": 86400,
    "PodGroupSpec.disruptionMode": "Pod",
    "RBDPersistentVolumeSource.keyring": "/etc/ceph/keyring",
    "RBDPersistentVolumeSource.pool": "rbd",
    "RBDPersistentVolumeSource.user": "admin",
    "RBDVolumeSource.keyring": "/etc/ceph/keyring",
    "RBDVolumeSource.pool": "rbd",
    "RBDVolumeSource.user": "admin",
    "ReplicationControllerSpec.replicas": 1,
    "ResourcePoolStatusRequestSpec.limit": 100,
    "ScaleIOPersistentVolumeSource.fsType": "xfs",
    "ScaleIOPersistentVolumeSource.storageMode": "ThinProvisioned",
    "ScaleIOVolumeSource.fsType": "xfs",
    "ScaleIOVolumeSource.storageMode": "ThinProvisioned",
    "ServicePort.protocol": "TCP",
}
