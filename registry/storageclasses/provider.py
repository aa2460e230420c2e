"""The storage.k8s.io group: its kinds."""

from registry.generic.provider import KindsProvider
from registry.kind import Kind
from registry.strategy import StatusStrategy, Strategy

GROUP = "storage.k8s.io"

KINDS = (
    Kind(
        group=GROUP,
        plural="csidrivers",
        kind="CSIDriver",
        is_namespaced=False,
        strategy=Strategy(has_generation=True, allows_unconditional_update=False),
        returns_deleted_object=True,
    ),
    Kind(
        group=GROUP,
        plural="csinodes",
        kind="CSINode",
        is_namespaced=False,
        strategy=Strategy(allows_unconditional_update=False),
        returns_deleted_object=True,
    ),
    Kind(
        group=GROUP,
        plural="csistoragecapacities",
        kind="CSIStorageCapacity",
        strategy=Strategy(allows_unconditional_update=False),
    ),
    Kind(
        group=GROUP,
        plural="storageclasses",
        kind="StorageClass",
        is_namespaced=False,
        short_names=("sc",),
        returns_deleted_object=True,
    ),
    Kind(
        group=GROUP,
        plural="volumeattachments",
        kind="VolumeAttachment",
        is_namespaced=False,
        strategy=Strategy(has_status=True, allows_unconditional_update=False),
        status_strategy=StatusStrategy(allows_unconditional_update=False),
        returns_deleted_object=True,
    ),
    Kind(
        group=GROUP,
        plural="volumeattributesclasses",
        kind="VolumeAttributesClass",
        is_namespaced=False,
        short_names=("vac",),
        returns_deleted_object=True,
    ),
)

PROVIDER = KindsProvider(group=GROUP, kinds=KINDS)
