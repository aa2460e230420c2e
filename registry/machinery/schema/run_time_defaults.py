"""The defaults of Kubernetes' own types that are true of every object, whatever else it says.

kube-apiserver applies them to each object that it reads; the published definitions leave them out. Defaults that depend
on the rest of an object are rules of its kind and are not here. `protocol` must be: it is a key of lists of ports.
"""

from collections.abc import Mapping
from typing import Any

from aio_apiserver.registry.machinery.schema.model import MISSING


def default(definition: str, field: str) -> Any:
    """The default of a field; MISSING when it has none."""
    return _DEFAULTS.get(f"{definition.rpartition('.')[2]}.{field}", MISSING)


_DEFAULTS: Mapping[str, Any] = {
    "AzureDiskVolumeSource.cachingMode": "ReadWrite",
    "AzureDiskVolumeSource.fsType": "ext4",
    "AzureDiskVolumeSource.kind": "Shared",
    "AzureDiskVolumeSource.readOnly": False,
    "ConfigMapVolumeSource.defaultMode": 0o644,
    "Container.terminationMessagePath": "/dev/termination-log",
    "Container.terminationMessagePolicy": "File",
    "ContainerPort.protocol": "TCP",
    "DeviceToleration.operator": "Equal",
    "DownwardAPIVolumeSource.defaultMode": 0o644,
    "EphemeralContainer.terminationMessagePath": "/dev/termination-log",
    "EphemeralContainer.terminationMessagePolicy": "File",
    "FileKeySelector.optional": False,
    "GRPCAction.service": "",
    "HTTPGetAction.path": "/",
    "HTTPGetAction.scheme": "HTTP",
    "HostPathVolumeSource.type": "",
    "ISCSIPersistentVolumeSource.iscsiInterface": "default",
    "ISCSIVolumeSource.iscsiInterface": "default",
    "ObjectFieldSelector.apiVersion": "v1",
    "PersistentVolumeClaimSpec.volumeMode": "Filesystem",
    "PersistentVolumeClaimStatus.phase": "Pending",
    "PodCertificateRequestSpec.maxExpirationSeconds": 86400,
    "PodFailurePolicyOnPodConditionsPattern.status": "True",
    "PodGroupSpec.disruptionMode": "Pod",
    "PodSpec.dnsPolicy": "ClusterFirst",
    "PodSpec.restartPolicy": "Always",
    "PodSpec.schedulerName": "default-scheduler",
    "PodSpec.securityContext": {},
    "PodSpec.terminationGracePeriodSeconds": 30,
    "PriorityClass.preemptionPolicy": "PreemptLowerPriority",
    "Probe.failureThreshold": 3,
    "Probe.periodSeconds": 10,
    "Probe.successThreshold": 1,
    "Probe.timeoutSeconds": 1,
    "ProjectedVolumeSource.defaultMode": 0o644,
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
    "SecretVolumeSource.defaultMode": 0o644,
    "ServiceAccountTokenProjection.expirationSeconds": 3600,
    "ServicePort.protocol": "TCP",
}
