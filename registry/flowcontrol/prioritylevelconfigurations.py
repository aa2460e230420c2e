"""Priority levels: how many requests of one importance are served at once."""

from registry.kind import Kind
from registry.strategy import StatusStrategy, Strategy

PRIORITYLEVELCONFIGURATIONS = Kind(
    group="flowcontrol.apiserver.k8s.io",
    plural="prioritylevelconfigurations",
    kind="PriorityLevelConfiguration",
    is_namespaced=False,
    strategy=Strategy(has_status=True, has_generation=True),
    status_strategy=StatusStrategy(),
)
