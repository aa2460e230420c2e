"""Who may do what: bindings of roles, and requests for certificates."""

from aio_apiserver.registry.base import objects
from aio_apiserver.registry.machinery.printing import ages
from aio_apiserver.registry.machinery.printing.columns import AGE, NAME, Cell, Column, Columns, table_of, text, value
from aio_apiserver.registry.machinery.printing.formats import NONE
from aio_apiserver.storage.stored_object import Object

# Some columns are described by fields of versions that are no longer served.
_UNRESOLVED = "If the RoleRef cannot be resolved, the Authorizer must return an error."
_SIGNER = """\
Requested signer for the request. It is a qualified name in the form: `scope-hostname.io/name`. If empty, it will be \
defaulted:
 1. If it's a kubelet client certificate, it is assigned
    "kubernetes.io/kube-apiserver-client-kubelet".
 2. If it's a kubelet serving certificate, it is assigned
    "kubernetes.io/kubelet-serving".
 3. Otherwise, it is assigned "kubernetes.io/legacy-unknown".
Distribution of trust for signers happens out of band. You can select on this field using `spec.signerName`."""


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
    (Column(name="SignerName", text=_SIGNER), text("spec.signerName", NONE)),
    (Column(name="Requestor", text="Base64-encoded PKCS#10 CSR data"), value("spec.username")),
    (Column(name="RequestedDuration", field=f"{_REQUEST}.expirationSeconds"), _duration),
    (Column(name="Condition", text="Conditions applied to the request, such as approval or denial."), _condition),
)
