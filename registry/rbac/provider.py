"""The rbac.authorization.k8s.io group: its kinds."""

from registry.generic.provider import KindsProvider
from registry.kind import Kind
from registry.strategy import Strategy
from registry.validation import names

GROUP = "rbac.authorization.k8s.io"

KINDS = (
    Kind(
        group=GROUP,
        plural="clusterrolebindings",
        kind="ClusterRoleBinding",
        is_namespaced=False,
        strategy=Strategy(allows_create_on_update=True, check_name=names.is_path_segment),
    ),
    Kind(
        group=GROUP,
        plural="clusterroles",
        kind="ClusterRole",
        is_namespaced=False,
        strategy=Strategy(allows_create_on_update=True, check_name=names.is_path_segment),
    ),
    Kind(
        group=GROUP,
        plural="rolebindings",
        kind="RoleBinding",
        strategy=Strategy(allows_create_on_update=True, check_name=names.is_path_segment),
    ),
    Kind(
        group=GROUP,
        plural="roles",
        kind="Role",
        strategy=Strategy(allows_create_on_update=True, check_name=names.is_path_segment),
    ),
)

PROVIDER = KindsProvider(group=GROUP, kinds=KINDS)
