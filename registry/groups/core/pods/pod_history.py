"""pod_history: the field errors of pod specs that are different in some minors, of pods and of pod templates.

Also the fields of pod specs that feature gates open. Pure tables.
"""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from aio_apiserver.registry.base.validation.field import ErrorType, FieldError
from aio_apiserver.registry.generic.common_history import with_empty_name
from aio_apiserver.registry.generic.error_history import ErrorRow, absent, since, until, worded

_CONTAINER = r".*[cC]ontainers\[\d+\]"

_OF_ROOT = r"(.*)\.securityContext\.shareProcessNamespace"
_GATES = {
    "workloadRef": "GenericWorkload@1.35",
    "schedulingGroup": "GenericWorkload",
    "hostnameOverride": "HostnameOverride",
    "evictionResponders": "EvictionRequestAPI",
    "resources": "PodLevelResources",
    "volumes[image]": "ImageVolume",
    "volumes[].projected.sources[].clusterTrustBundle": "ClusterTrustBundleProjection",
    "volumes[].projected.sources[].podCertificate": "PodCertificateRequest",
    "volumes[].emptyDir.mode": "EmptyDirVolumeMode",
    **{f"volumes[].{one}.defaultUser": "AtomicWriteVolumeUserFields" for one in ("configMap", "secret", "downwardAPI")},
    "volumes[].projected.defaultUser": "AtomicWriteVolumeUserFields",
}
_GATES_OF_CONTAINERS = {
    "lifecycle?stopSignal": "ContainerStopSignals",
    "restartPolicyRules": "ContainerRestartRules",
    "env[].valueFrom.fileKeyRef": "EnvFiles",
    "volumeMounts[].bindMountOptions": "VolumeBindMountOptions",
    **{
        f"{probe}.{name}": gate
        for probe in ("livenessProbe", "readinessProbe", "startupProbe")
        for name, gate in (("httpGet.protocol", "H2CContainerProbe"), ("grpc.mode", "GRPCContainerProbeTLS"))
    },
}
_RESTARTS = {
    "containers[].restartPolicy": "ContainerRestartRules",
    "initContainers[].restartPolicy!=Always": "ContainerRestartRules",
    "ephemeralContainers[].restartPolicy": "ContainerRestartRules",
}
_CONTAINERS = ("containers[]", "initContainers[]", "ephemeralContainers[]")
_FIELDS = {
    **_GATES,
    **_RESTARTS,
    **{f"{one}.{name}": gate for one in _CONTAINERS for name, gate in _GATES_OF_CONTAINERS.items()},
}


def gated(path: str) -> Mapping[str, str]:
    """The fields that feature gates open in a pod spec at a path, each with its gate."""
    return {f"{path}.{name}": gate for name, gate in _FIELDS.items()}


GATED_STATUS: Mapping[str, str] = {
    "status.nodeAllocatableResourceClaimStatuses": "DRANodeAllocatableResources",
    **{
        f"status.{statuses}[].volumeMounts[].volumeStatus": "ImageVolumeWithDigest"
        for statuses in ("containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses")
    },
}
"""The fields that feature gates open in the status of a pod, each with its gate."""


def _at_root(error: FieldError) -> Sequence[FieldError]:
    return (replace(error, path=error.path.replace(".securityContext.", ".")),)


ERRORS: Sequence[ErrorRow] = (
    until(
        (1, 35),
        r".*tolerations\[\d+\]\.operator",
        worded('supported values: "Equal", "Exists"'),
        type=ErrorType.NOT_SUPPORTED,
    ),
    until((1, 35), r".*\.csi\.driver", with_empty_name, type=ErrorType.REQUIRED),
    since((1, 37), _OF_ROOT, _at_root),
    since(
        (1, 37),
        r".*\.seLinuxChangePolicy",
        absent,
        detail='supported values: "Recursive"',
        value="MountOption",
    ),
    since(
        (1, 37),
        r".*\.seLinuxChangePolicy",
        worded('supported values: "MountOption", "Recursive"'),
        detail='supported values: "Recursive"',
    ),
    until(
        (1, 36),
        rf"{_CONTAINER}\.restartPolicyRules\[\d+\]\.action",
        worded('supported values: "Restart"'),
        type=ErrorType.NOT_SUPPORTED,
    ),
    until(
        (1, 36),
        rf"{_CONTAINER}\.resizePolicy",
        worded("must be 'NotRequired' when `restartPolicy` is 'Never'"),
        detail="must be 'NotRequired' when pod .*",
    ),
)
