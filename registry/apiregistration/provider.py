"""The apiregistration.k8s.io group: its kinds."""

from registry.generic.provider import KindsProvider
from registry.kind import Kind
from registry.strategy import StatusStrategy, Strategy
from registry.validation import names

GROUP = "apiregistration.k8s.io"

KINDS = (
    Kind(
        group=GROUP,
        plural="apiservices",
        kind="APIService",
        is_namespaced=False,
        categories=("api-extensions",),
        strategy=Strategy(has_status=True, allows_unconditional_update=False, check_name=names.is_path_segment),
        status_strategy=StatusStrategy(allows_unconditional_update=False),
    ),
)

PROVIDER = KindsProvider(group=GROUP, kinds=KINDS)
