"""bindings_columns: the columns of a RoleBinding and of a ClusterRoleBinding: the role and its subjects."""

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import objects
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
