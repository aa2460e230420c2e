"""Bindings: RoleBindings and ClusterRoleBindings, which grant a role to subjects in one namespace or in the cluster."""

from collections.abc import Sequence

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import objects
from aio_apiserver.registry.base.validation import names
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.strategy import Strategy, StrategyContext
from aio_apiserver.registry.groups.rbac import validation
from aio_apiserver.registry.machinery.printing.columns import AGE, NAME, Cell, Column, Columns, table_of

# Some columns have the descriptions of fields in versions that are no longer served.
_UNRESOLVED = "If the RoleRef cannot be resolved, the Authorizer must return an error."


def _role(binding: Object, _now: float) -> str:
    return f"{objects.get(binding, 'roleRef.kind', '')}/{objects.get(binding, 'roleRef.name', '')}"


def _subjects(kind: str) -> Cell:
    def cell(binding: Object, _now: float) -> str:
        found = [one for one in binding.get("subjects") or () if one.get("kind") == kind]
        return ", ".join(f"{one.get('namespace', '')}/{one['name']}" if is_account else one["name"] for one in found)

    is_account = kind == "ServiceAccount"
    return cell


def _bindings(name: str, roles: str) -> Columns:
    text = f"RoleRef can {roles} in the global namespace. {_UNRESOLVED}"
    return table_of(
        NAME,
        (Column(name="Role", text=text), _role),
        AGE,
        (Column(name="Users", text=f"Users in the {name}", priority=1), _subjects("User")),
        (Column(name="Groups", text=f"Groups in the {name}", priority=1), _subjects("Group")),
        (
            Column(name="ServiceAccounts", text=f"ServiceAccounts in the {name}", priority=1),
            _subjects("ServiceAccount"),
        ),
    )


ROLE_BINDINGS = _bindings("roleBinding", "reference a Role in the current namespace or a ClusterRole")
CLUSTER_ROLE_BINDINGS = _bindings("clusterRoleBinding", "only reference a ClusterRole")


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
    columns=ROLE_BINDINGS,
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
    columns=CLUSTER_ROLE_BINDINGS,
    errors=validation.BINDING_ERRORS,
)
