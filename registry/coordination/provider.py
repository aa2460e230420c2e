"""The coordination.k8s.io group: its kinds."""

from registry.generic.provider import KindsProvider
from registry.kind import Kind
from registry.strategy import Strategy

GROUP = "coordination.k8s.io"

KINDS = (
    Kind(
        group=GROUP,
        plural="leases",
        kind="Lease",
        strategy=Strategy(allows_create_on_update=True, allows_unconditional_update=False),
    ),
)

PROVIDER = KindsProvider(group=GROUP, kinds=KINDS)
