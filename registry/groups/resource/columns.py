"""What holds a cluster together: leases, classes of pods, devices, and the APIs of other servers."""

from aio_apiserver.registry.base import objects
from aio_apiserver.registry.machinery.printing import formats
from aio_apiserver.registry.machinery.printing.columns import AGE, NAME, Column, table_of, value
from aio_apiserver.storage.stored_object import Object

LEASES = table_of(
    NAME, (Column(name="Holder", field="coordination.v1.LeaseSpec.holderIdentity"), value("spec.holderIdentity")), AGE
)
PRIORITY_CLASSES = table_of(
    NAME,
    (Column(name="Value", type="integer", field="scheduling.v1.PriorityClass.value"), value("value", 0)),
    (
        Column(name="Global-Default", type="boolean", field="scheduling.v1.PriorityClass.globalDefault"),
        value("globalDefault", False),
    ),
    AGE,
    (Column(name="PreemptionPolicy", field="scheduling.v1.PriorityClass.preemptionPolicy"), value("preemptionPolicy")),
)
RUNTIME_CLASSES = table_of(NAME, (Column(name="Handler"), value("handler")), AGE)


def _claim_state(claim: Object, _now: float) -> str:
    is_deleted = bool(claim["metadata"].get("deletionTimestamp"))
    states = ["deleted"] if is_deleted else []
    if objects.get(claim, "status.allocation") is None:
        return ",".join(states) or "pending"
    states.append("allocated")
    if objects.get(claim, "status.reservedFor"):
        states.append("reserved")
    return ",".join(states)


RESOURCE_CLAIMS = table_of(
    NAME,
    (
        Column(name="State", text="A summary of the current state (allocated, pending, reserved, etc.)."),
        _claim_state,
    ),
    AGE,
)
RESOURCE_SLICES = table_of(
    NAME,
    (Column(name="Node", field="resource.v1.ResourceSliceSpec.nodeName"), value("spec.nodeName")),
    (Column(name="Driver", field="resource.v1.ResourceSliceSpec.driver"), value("spec.driver")),
    (Column(name="Pool", field="resource.v1.ResourcePool.name"), value("spec.pool.name")),
    AGE,
)


def _service(api: Object, _now: float) -> str:
    service = objects.get(api, "spec.service")
    return "Local" if service is None else f"{service.get('namespace', '')}/{service.get('name', '')}"


def _is_available(api: Object, _now: float) -> str:
    found = formats.condition(api, "Available")
    if found is None:
        return "Unknown"
    status, reason = found.get("status", ""), found.get("reason", "")
    return f"{status} ({reason})" if reason and status != "True" else str(status)


API_SERVICES = table_of(
    NAME,
    (Column(name="Service", text="The reference to the service that hosts this API endpoint."), _service),
    (Column(name="Available", text="Whether this service is available."), _is_available),
    AGE,
)
