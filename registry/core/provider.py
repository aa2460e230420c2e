"""The core group: its kinds."""

from registry.core.configmaps import CONFIGMAPS
from registry.core.namespaces import NAMESPACES
from registry.core.pods import PODS
from registry.core.podtemplates import PODTEMPLATES
from registry.core.replicationcontrollers import REPLICATIONCONTROLLERS
from registry.core.secrets import SECRETS
from registry.fields import first, flag, text
from registry.generic.provider import KindsProvider
from registry.kind import Kind
from registry.strategy import GarbageCollection, StatusStrategy, Strategy

GROUP = ""

EVENT_TTL_SECONDS = 3600

EVENT_FIELDS = {
    "involvedObject.kind": text("involvedObject.kind"),
    "involvedObject.namespace": text("involvedObject.namespace"),
    "involvedObject.name": text("involvedObject.name"),
    "involvedObject.uid": text("involvedObject.uid"),
    "involvedObject.apiVersion": text("involvedObject.apiVersion"),
    "involvedObject.resourceVersion": text("involvedObject.resourceVersion"),
    "involvedObject.fieldPath": text("involvedObject.fieldPath"),
    "reason": text("reason"),
    "reportingComponent": text("reportingComponent"),
    "source": first("source.component", "reportingComponent"),
    "type": text("type"),
}

EVENTS = Kind(
    group=GROUP,
    plural="events",
    kind="Event",
    short_names=("ev",),
    strategy=Strategy(allows_create_on_update=True, garbage_collection=GarbageCollection.UNSUPPORTED),
    fields=EVENT_FIELDS,
    ttl_seconds=EVENT_TTL_SECONDS,
)

KINDS = (
    CONFIGMAPS,
    Kind(
        group=GROUP,
        plural="endpoints",
        kind="Endpoints",
        deprecation="v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
        short_names=("ep",),
        strategy=Strategy(allows_create_on_update=True),
    ),
    EVENTS,
    Kind(
        group=GROUP,
        plural="limitranges",
        kind="LimitRange",
        short_names=("limits",),
        strategy=Strategy(allows_create_on_update=True),
    ),
    NAMESPACES,
    Kind(
        group=GROUP,
        plural="nodes",
        kind="Node",
        is_namespaced=False,
        short_names=("no",),
        strategy=Strategy(has_status=True),
        status_strategy=StatusStrategy(),
        fields={"spec.unschedulable": flag("spec.unschedulable")},
    ),
    Kind(
        group=GROUP,
        plural="persistentvolumeclaims",
        kind="PersistentVolumeClaim",
        short_names=("pvc",),
        strategy=Strategy(has_status=True),
        status_strategy=StatusStrategy(),
        returns_deleted_object=True,
    ),
    Kind(
        group=GROUP,
        plural="persistentvolumes",
        kind="PersistentVolume",
        is_namespaced=False,
        short_names=("pv",),
        strategy=Strategy(has_status=True),
        status_strategy=StatusStrategy(),
        returns_deleted_object=True,
    ),
    PODS,
    PODTEMPLATES,
    REPLICATIONCONTROLLERS,
    Kind(
        group=GROUP,
        plural="resourcequotas",
        kind="ResourceQuota",
        short_names=("quota",),
        strategy=Strategy(has_status=True),
        status_strategy=StatusStrategy(),
        returns_deleted_object=True,
    ),
    SECRETS,
    Kind(
        group=GROUP,
        plural="serviceaccounts",
        kind="ServiceAccount",
        short_names=("sa",),
        returns_deleted_object=True,
    ),
    Kind(
        group=GROUP,
        plural="services",
        kind="Service",
        short_names=("svc",),
        categories=("all",),
        strategy=Strategy(has_status=True, allows_create_on_update=True),
        status_strategy=StatusStrategy(),
        returns_deleted_object=True,
        fields={"spec.clusterIP": text("spec.clusterIP"), "spec.type": text("spec.type")},
    ),
)

PROVIDER = KindsProvider(group=GROUP, kinds=KINDS)
