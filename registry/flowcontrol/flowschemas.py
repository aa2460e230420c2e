"""Flow schemas: which requests fall under which priority level."""

from registry.kind import Kind
from registry.strategy import StatusStrategy, Strategy

FLOWSCHEMAS = Kind(
    group="flowcontrol.apiserver.k8s.io",
    plural="flowschemas",
    kind="FlowSchema",
    is_namespaced=False,
    strategy=Strategy(has_status=True, has_generation=True),
    status_strategy=StatusStrategy(),
)
