"""The resource.k8s.io group: its kinds."""

from registry.fields import text
from registry.generic.provider import KindsProvider
from registry.kind import Kind
from registry.strategy import StatusStrategy, Strategy

GROUP = "resource.k8s.io"

KINDS = (
    Kind(
        group=GROUP,
        plural="deviceclasses",
        kind="DeviceClass",
        is_namespaced=False,
        strategy=Strategy(has_generation=True),
        returns_deleted_object=True,
    ),
    Kind(
        group=GROUP,
        plural="resourceclaims",
        kind="ResourceClaim",
        strategy=Strategy(has_status=True),
        status_strategy=StatusStrategy(),
        returns_deleted_object=True,
    ),
    Kind(
        group=GROUP,
        plural="resourceclaimtemplates",
        kind="ResourceClaimTemplate",
        returns_deleted_object=True,
    ),
    Kind(
        group=GROUP,
        plural="resourceslices",
        kind="ResourceSlice",
        is_namespaced=False,
        strategy=Strategy(has_generation=True),
        returns_deleted_object=True,
        fields={"spec.nodeName": text("spec.nodeName"), "spec.driver": text("spec.driver")},
        unknown_field_message="field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: {name}",
        triggers=("spec.nodeName",),
    ),
)

PROVIDER = KindsProvider(group=GROUP, kinds=KINDS)
