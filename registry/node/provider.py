"""The node.k8s.io group: its kinds."""

from registry.generic.provider import KindsProvider
from registry.kind import Kind
from registry.strategy import Strategy

GROUP = "node.k8s.io"

KINDS = (
    Kind(
        group=GROUP,
        plural="runtimeclasses",
        kind="RuntimeClass",
        is_namespaced=False,
        strategy=Strategy(allows_create_on_update=True, allows_unconditional_update=False),
    ),
)

PROVIDER = KindsProvider(group=GROUP, kinds=KINDS)
