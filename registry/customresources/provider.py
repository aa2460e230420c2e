"""The apiextensions.k8s.io group: its kinds."""

from registry.generic.provider import KindsProvider
from registry.kind import Kind
from registry.strategy import StatusStrategy, Strategy

GROUP = "apiextensions.k8s.io"

KINDS = (
    Kind(
        group=GROUP,
        plural="customresourcedefinitions",
        kind="CustomResourceDefinition",
        is_namespaced=False,
        short_names=("crd", "crds"),
        categories=("api-extensions",),
        strategy=Strategy(has_status=True, has_generation=True, allows_unconditional_update=False),
        status_strategy=StatusStrategy(allows_unconditional_update=False),
    ),
)

PROVIDER = KindsProvider(group=GROUP, kinds=KINDS)
