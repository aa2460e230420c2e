"""Who may do what: bindings of roles, and requests for certificates."""

from registry import objects
from registry.printing import ages
from registry.printing.columns import AGE, NAME, Cell, Column, Columns, table_of, text, value
from registry.printing.formats import NONE
from storage.stored_object import Object


def _role(binding: Object, _now: float) -> str:
    return f"{objects.get(binding, 'roleRef.kind', '')}/{objects.get(binding, 'roleRef.name', '')}"


def _subjects(kind: str) -> Cell:
    def cell(binding: Object, _now: float) -> str:
        found = [one for one in binding.get("subjects") or () if one.get("kind") == kind]
        return ", ".join(f"{one.get('namespace', '')}/{one['name']}" if is_account else one["name"] for one in found)

    is_account = kind == "ServiceAccount"
    return cell


def _bindings(kind: str, name: str) -> Columns:
    return table_of(
        NAME,
        (Column(name="Role", field=f"rbac.v1.{kind}.roleRef"), _role),
        AGE,
        (Column(name="Users", text=f"Users in the {name}", priority=1), _subjects("User")),
        (Column(name="Groups", text=f"Groups in the {name}", priority=1), _subjects("Group")),
        (
            Column(name="ServiceAccounts", text=f"ServiceAccounts in the {name}", priority=1),
            _subjects("ServiceAccount"),
        ),
    )


ROLE_BINDINGS = _bindings("RoleBinding", "roleBinding")
CLUSTER_ROLE_BINDINGS = _bindings("ClusterRoleBinding", "clusterRoleBinding")


def _duration(request: Object, _now: float) -> str:
    seconds = objects.get(request, "spec.expirationSeconds")
    return NONE if seconds is None else ages.duration(seconds)


def _condition(request: Object, _now: float) -> str:
    types = {one.get("type") for one in objects.get(request, "status.conditions", ())}
    words = ["Denied" if "Denied" in types else "Approved" if "Approved" in types else "Pending"]
    if "Failed" in types:
        words.append("Failed")
    if objects.get(request, "status.certificate"):
        words.append("Issued")
    return ",".join(words)


_REQUEST = "certificates.v1.CertificateSigningRequestSpec"
CERTIFICATE_SIGNING_REQUESTS = table_of(
    NAME,
    AGE,
    (Column(name="SignerName", field=f"{_REQUEST}.signerName"), text("spec.signerName", NONE)),
    (Column(name="Requestor", field=f"{_REQUEST}.request"), value("spec.username")),
    (Column(name="RequestedDuration", field=f"{_REQUEST}.expirationSeconds"), _duration),
    (Column(name="Condition", field="certificates.v1.CertificateSigningRequestStatus.conditions"), _condition),
)
