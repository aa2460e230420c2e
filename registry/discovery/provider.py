"""The discovery.k8s.io group: its kinds."""

from registry.generic.provider import KindsProvider
from registry.kind import Kind
from registry.strategy import Strategy

GROUP = "discovery.k8s.io"

KINDS = (
    Kind(
        group=GROUP,
        plural="endpointslices",
        kind="EndpointSlice",
        strategy=Strategy(has_generation=True),
    ),
)

PROVIDER = KindsProvider(group=GROUP, kinds=KINDS)
