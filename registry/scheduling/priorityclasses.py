"""Priority classes: names for how important pods are."""

from registry.kind import Kind
from registry.strategy import Strategy

PRIORITYCLASSES = Kind(
    group="scheduling.k8s.io",
    plural="priorityclasses",
    kind="PriorityClass",
    is_namespaced=False,
    short_names=("pc",),
    strategy=Strategy(has_generation=True),
)
