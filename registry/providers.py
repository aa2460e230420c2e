"""The one list of providers: every API group that is served."""

from aio_apiserver.registry.admissionregistration.provider import PROVIDER as ADMISSIONREGISTRATION
from aio_apiserver.registry.apiregistration.provider import PROVIDER as APIREGISTRATION
from aio_apiserver.registry.apps.provider import PROVIDER as APPS
from aio_apiserver.registry.authentication.provider import PROVIDER as AUTHENTICATION
from aio_apiserver.registry.authorization.provider import PROVIDER as AUTHORIZATION
from aio_apiserver.registry.autoscaling.provider import PROVIDER as AUTOSCALING
from aio_apiserver.registry.batch.provider import PROVIDER as BATCH
from aio_apiserver.registry.certificates.provider import PROVIDER as CERTIFICATES
from aio_apiserver.registry.coordination.provider import PROVIDER as COORDINATION
from aio_apiserver.registry.core.provider import PROVIDER as CORE
from aio_apiserver.registry.customresources.provider import PROVIDER as CUSTOMRESOURCES
from aio_apiserver.registry.discovery.provider import PROVIDER as DISCOVERY
from aio_apiserver.registry.events.provider import PROVIDER as EVENTS
from aio_apiserver.registry.flowcontrol.provider import PROVIDER as FLOWCONTROL
from aio_apiserver.registry.generic.rest import RESTStorageProvider
from aio_apiserver.registry.networking.provider import PROVIDER as NETWORKING
from aio_apiserver.registry.node.provider import PROVIDER as NODE
from aio_apiserver.registry.policy.provider import PROVIDER as POLICY
from aio_apiserver.registry.rbac.provider import PROVIDER as RBAC
from aio_apiserver.registry.resource.provider import PROVIDER as RESOURCE
from aio_apiserver.registry.scheduling.provider import PROVIDER as SCHEDULING
from aio_apiserver.registry.storageclasses.provider import PROVIDER as STORAGECLASSES

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
