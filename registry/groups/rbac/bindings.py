"""Bindings: RoleBindings and ClusterRoleBindings, which grant a role to subjects in one namespace or in the cluster."""

from collections.abc import Sequence

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.validation import names
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.strategy import Strategy, StrategyContext
from aio_apiserver.registry.groups.rbac import bindings_columns, validation


class RoleBindingStrategy(Strategy, frozen=True, kw_only=True):
    """The strategy of both kinds. The roleRef is immutable, and its kind is one of `role_kinds`."""

    role_kinds: Sequence[str]

    def default(self, obj: Object) -> None:
        validation.default_binding(obj)

    def validate(self, context: StrategyContext, obj: Object) -> list[FieldError]:
        return super().validate(context, obj) + validation.validate_binding(obj, role_kinds=self.role_kinds)

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        errors = self.validate_again(context, new) + super().validate_update(context, new, old)
        return errors + validation.validate_same_role(new, old)


ROLEBINDINGS = Kind(
    group=validation.GROUP,
    plural="rolebindings",
    kind="RoleBinding",
    strategy=RoleBindingStrategy(
        allows_create_on_update=True, check_name=names.is_path_segment, role_kinds=("Role", "ClusterRole")
    ),
    columns=bindings_columns.ROLE_BINDINGS,
    errors=validation.BINDING_ERRORS,
)

CLUSTERROLEBINDINGS = Kind(
    group=validation.GROUP,
    plural="clusterrolebindings",
    kind="ClusterRoleBinding",
    is_namespaced=False,
    strategy=RoleBindingStrategy(
        allows_create_on_update=True, check_name=names.is_path_segment, role_kinds=("ClusterRole",)
    ),
    columns=bindings_columns.CLUSTER_ROLE_BINDINGS,
    errors=validation.BINDING_ERRORS,
)
