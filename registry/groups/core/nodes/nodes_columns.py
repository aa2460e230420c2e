"""nodes_columns: the columns of a Node: readiness, roles, addresses and software."""

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import objects
from aio_apiserver.registry.machinery.printing import formats
from aio_apiserver.registry.machinery.printing.columns import AGE, NAME, Cell, Column, Columns, table_of, text, value
from aio_apiserver.registry.machinery.printing.formats import NONE

_ROLE_PREFIX = "node-role.kubernetes.io/"
_ROLE_LABEL = "kubernetes.io/role"
_UNKNOWN = "<unknown>"


def _status(node: Object, _now: float) -> str:
    found = [one for one in objects.get(node, "status.conditions", ()) if one.get("type") == "Ready"]
    words = "Unknown"
    if found:
        words = "Ready" if found[-1].get("status") == "True" else "NotReady"
    return f"{words},SchedulingDisabled" if objects.get(node, "spec.unschedulable") else words


def _roles(node: Object, _now: float) -> str:
    labels = node["metadata"].get("labels") or {}
    roles = {name.removeprefix(_ROLE_PREFIX) for name in labels if name.startswith(_ROLE_PREFIX)}
    roles.add(labels.get(_ROLE_LABEL, ""))
    return ",".join(sorted(roles - {""})) or NONE


def _address(kind: str) -> Cell:
    def cell(node: Object, _now: float) -> str:
        found = formats.condition(node, kind, "status.addresses")
        return str(found.get("address", "")) if found is not None else NONE

    return cell


def _kernel(node: Object, _now: float) -> str:
    info = objects.get(node, "status.nodeInfo", {})
    version, architecture = info.get("kernelVersion") or _UNKNOWN, info.get("architecture")
    return f"{version} ({architecture})" if architecture else version


def _columns(kernel: Cell) -> Columns:
    return table_of(
        NAME,
        (Column(name="Status", text="The status of the node"), _status),
        (Column(name="Roles", text="The roles of the node"), _roles),
        AGE,
        (
            Column(name="Version", field="core.v1.NodeSystemInfo.kubeletVersion"),
            value("status.nodeInfo.kubeletVersion"),
        ),
        (Column(name="Internal-IP", field="core.v1.NodeStatus.addresses", priority=1), _address("InternalIP")),
        (Column(name="External-IP", field="core.v1.NodeStatus.addresses", priority=1), _address("ExternalIP")),
        (
            Column(name="OS-Image", field="core.v1.NodeSystemInfo.osImage", priority=1),
            text("status.nodeInfo.osImage", _UNKNOWN),
        ),
        (Column(name="Kernel-Version", field="core.v1.NodeSystemInfo.kernelVersion", priority=1), kernel),
        (
            Column(name="Container-Runtime", field="core.v1.NodeSystemInfo.containerRuntimeVersion", priority=1),
            text("status.nodeInfo.containerRuntimeVersion", _UNKNOWN),
        ),
    )


COLUMNS = _columns(_kernel)
COLUMNS_BEFORE_1_36 = _columns(text("status.nodeInfo.kernelVersion", _UNKNOWN))
"""The columns in the minors that show a kernel without its architecture."""
