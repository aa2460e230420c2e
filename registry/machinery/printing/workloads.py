"""Workloads: controllers of pods, how many they want and how many they have."""

from aio_apiserver.registry.base import objects
from aio_apiserver.registry.generic.store.scale import selector_text
from aio_apiserver.registry.machinery.printing import formats
from aio_apiserver.registry.machinery.printing.columns import AGE, NAME, Column, table_of, value
from aio_apiserver.registry.machinery.printing.formats import NONE
from aio_apiserver.storage.stored_object import Object

_READY = Column(name="Ready", text="Number of the pod with ready state")

DEPLOYMENTS = table_of(
    NAME,
    (_READY, formats.ratio("status.readyReplicas", "spec.replicas")),
    (Column(name="Up-to-date", field="apps.v1.DeploymentStatus.updatedReplicas"), value("status.updatedReplicas", 0)),
    (
        Column(name="Available", field="apps.v1.DeploymentStatus.availableReplicas"),
        value("status.availableReplicas", 0),
    ),
    AGE,
    *formats.containers("spec.template"),
    (
        Column(name="Selector", field="apps.v1.DeploymentSpec.selector", priority=1),
        lambda obj, _now: selector_text(objects.get(obj, "spec.selector")),
    ),
)
REPLICA_SETS = table_of(
    NAME,
    (Column(name="Desired", type="integer", field="apps.v1.ReplicaSetSpec.replicas"), value("spec.replicas", 0)),
    (Column(name="Current", type="integer", field="apps.v1.ReplicaSetStatus.replicas"), value("status.replicas", 0)),
    (
        Column(name="Ready", type="integer", field="apps.v1.ReplicaSetStatus.readyReplicas"),
        value("status.readyReplicas", 0),
    ),
    AGE,
    *formats.containers("spec.template"),
    (
        Column(name="Selector", field="apps.v1.ReplicaSetSpec.selector", priority=1),
        formats.selector("spec.selector"),
    ),
)
REPLICATION_CONTROLLERS = table_of(
    NAME,
    (
        Column(name="Desired", type="integer", field="core.v1.ReplicationControllerSpec.replicas"),
        value("spec.replicas", 0),
    ),
    (
        Column(name="Current", type="integer", field="core.v1.ReplicationControllerStatus.replicas"),
        value("status.replicas", 0),
    ),
    (
        Column(name="Ready", type="integer", field="core.v1.ReplicationControllerStatus.readyReplicas"),
        value("status.readyReplicas", 0),
    ),
    AGE,
    *formats.containers("spec.template"),
    (
        Column(name="Selector", field="core.v1.ReplicationControllerSpec.selector", priority=1),
        formats.labels("spec.selector"),
    ),
)
STATEFUL_SETS = table_of(
    NAME,
    (_READY, formats.ratio("status.readyReplicas", "spec.replicas")),
    AGE,
    *formats.containers("spec.template"),
)
_DAEMONS = "apps.v1.DaemonSetStatus"
DAEMON_SETS = table_of(
    NAME,
    (
        Column(name="Desired", type="integer", field=f"{_DAEMONS}.desiredNumberScheduled"),
        value("status.desiredNumberScheduled", 0),
    ),
    (
        Column(name="Current", type="integer", field=f"{_DAEMONS}.currentNumberScheduled"),
        value("status.currentNumberScheduled", 0),
    ),
    (Column(name="Ready", type="integer", field=f"{_DAEMONS}.numberReady"), value("status.numberReady", 0)),
    (
        Column(name="Up-to-date", type="integer", field=f"{_DAEMONS}.updatedNumberScheduled"),
        value("status.updatedNumberScheduled", 0),
    ),
    (
        Column(name="Available", type="integer", field=f"{_DAEMONS}.numberAvailable"),
        value("status.numberAvailable", 0),
    ),
    (
        Column(name="Node Selector", field="core.v1.PodSpec.nodeSelector"),
        formats.labels("spec.template.spec.nodeSelector"),
    ),
    AGE,
    *formats.containers("spec.template"),
    (Column(name="Selector", field="apps.v1.DaemonSetSpec.selector", priority=1), formats.selector("spec.selector")),
)


def _controller(obj: Object, _now: float) -> str:
    owners = obj["metadata"].get("ownerReferences") or ()
    owner = next((one for one in owners if one.get("controller")), None)
    if owner is None:
        return NONE
    group = owner["apiVersion"].rpartition("/")[0]
    kind = f"{owner['kind']}.{group}" if group else owner["kind"]
    return f"{kind.lower()}/{owner['name']}"


CONTROLLER_REVISIONS = table_of(
    NAME,
    (Column(name="Controller", text="Controller of the object"), _controller),
    (Column(name="Revision", field="apps.v1.ControllerRevision.revision"), value("revision", 0)),
    AGE,
)
SCALES = table_of(
    (Column(name="Name", field="meta.v1.ObjectMeta.name"), value("metadata.name")),
    (Column(name="Desired", type="integer", field="autoscaling.v1.ScaleSpec.replicas"), value("spec.replicas", 0)),
    (
        Column(name="Available", type="integer", field="autoscaling.v1.ScaleStatus.replicas"),
        value("status.replicas", 0),
    ),
    AGE,
)
