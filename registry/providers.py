"""The one list of providers: every API group that is served."""

from registry.admissionregistration.provider import PROVIDER as ADMISSIONREGISTRATION
from registry.apiregistration.provider import PROVIDER as APIREGISTRATION
from registry.apps.provider import PROVIDER as APPS
from registry.authentication.provider import PROVIDER as AUTHENTICATION
from registry.authorization.provider import PROVIDER as AUTHORIZATION
from registry.autoscaling.provider import PROVIDER as AUTOSCALING
from registry.batch.provider import PROVIDER as BATCH
from registry.certificates.provider import PROVIDER as CERTIFICATES
from registry.coordination.provider import PROVIDER as COORDINATION
from registry.core.provider import PROVIDER as CORE
from registry.customresources.provider import PROVIDER as CUSTOMRESOURCES
from registry.discovery.provider import PROVIDER as DISCOVERY
from registry.events.provider import PROVIDER as EVENTS
from registry.flowcontrol.provider import PROVIDER as FLOWCONTROL
from registry.networking.provider import PROVIDER as NETWORKING
from registry.node.provider import PROVIDER as NODE
from registry.policy.provider import PROVIDER as POLICY
from registry.rbac.provider import PROVIDER as RBAC
from registry.resource.provider import PROVIDER as RESOURCE
from registry.rest import RESTStorageProvider
from registry.scheduling.provider import PROVIDER as SCHEDULING
from registry.storageclasses.provider import PROVIDER as STORAGECLASSES

# The order is that of discovery.
PROVIDERS: tuple[RESTStorageProvider, ...] = (
    CORE,
    APIREGISTRATION,
    APPS,
    EVENTS,
    AUTHENTICATION,
    AUTHORIZATION,
    AUTOSCALING,
    BATCH,
    CERTIFICATES,
    NETWORKING,
    POLICY,
    RBAC,
    STORAGECLASSES,
    ADMISSIONREGISTRATION,
    CUSTOMRESOURCES,
    SCHEDULING,
    COORDINATION,
    NODE,
    DISCOVERY,
    RESOURCE,
    FLOWCONTROL,
)
