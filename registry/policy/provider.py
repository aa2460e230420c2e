"""The policy group: its kinds."""

from registry.generic.provider import KindsProvider
from registry.kind import Kind
from registry.strategy import StatusStrategy, Strategy

GROUP = "policy"

KINDS = (
    Kind(
        group=GROUP,
        plural="poddisruptionbudgets",
        kind="PodDisruptionBudget",
        short_names=("pdb",),
        strategy=Strategy(has_status=True, has_generation=True, allows_unconditional_update=False),
        status_strategy=StatusStrategy(allows_unconditional_update=False),
    ),
)

PROVIDER = KindsProvider(group=GROUP, kinds=KINDS)
