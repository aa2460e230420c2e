"""Providers: the list of all API groups that are served."""

from collections.abc import Sequence

from aio_apiserver.registry.base.minors import Minor
from aio_apiserver.registry.generic import enablement
from aio_apiserver.registry.generic.rest import RESTStorageProvider
from aio_apiserver.registry.groups.admissionregistration.provider import PROVIDER as ADMISSIONREGISTRATION
from aio_apiserver.registry.groups.apiextensions.provider import PROVIDER as CUSTOMRESOURCES
from aio_apiserver.registry.groups.apiregistration.provider import PROVIDER as APIREGISTRATION
from aio_apiserver.registry.groups.apps.provider import PROVIDER as APPS
from aio_apiserver.registry.groups.authentication.provider import PROVIDER as AUTHENTICATION
from aio_apiserver.registry.groups.authorization.provider import PROVIDER as AUTHORIZATION
from aio_apiserver.registry.groups.autoscaling.provider import PROVIDER as AUTOSCALING
from aio_apiserver.registry.groups.batch.provider import PROVIDER as BATCH
from aio_apiserver.registry.groups.certificates.provider import PROVIDER as CERTIFICATES
from aio_apiserver.registry.groups.coordination.provider import PROVIDER as COORDINATION
from aio_apiserver.registry.groups.core import provider as core
from aio_apiserver.registry.groups.discovery.provider import PROVIDER as DISCOVERY
from aio_apiserver.registry.groups.events.provider import PROVIDER as EVENTS
from aio_apiserver.registry.groups.flowcontrol.provider import PROVIDER as FLOWCONTROL
from aio_apiserver.registry.groups.networking.ipaddresses import IPADDRESSES
from aio_apiserver.registry.groups.networking.provider import PROVIDER as NETWORKING
from aio_apiserver.registry.groups.networking.servicecidrs import SERVICECIDRS
from aio_apiserver.registry.groups.node.provider import PROVIDER as NODE
from aio_apiserver.registry.groups.policy.evictions import EvictionREST
from aio_apiserver.registry.groups.policy.provider import PROVIDER as POLICY
from aio_apiserver.registry.groups.rbac.provider import PROVIDER as RBAC
from aio_apiserver.registry.groups.resource.provider import PROVIDER as RESOURCE
from aio_apiserver.registry.groups.scheduling.provider import PROVIDER as SCHEDULING
from aio_apiserver.registry.groups.storage.provider import PROVIDER as STORAGECLASSES
from aio_apiserver.registry.groups.storagemigration.provider import PROVIDER as STORAGEMIGRATION

CORE = core.provider(events=EVENTS.kinds, addresses=IPADDRESSES, cidrs=SERVICECIDRS, eviction=EvictionREST)

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
    STORAGEMIGRATION,
)


def providers_of(minor: Minor) -> Sequence[RESTStorageProvider]:
    """The groups that a minor has, as it has them."""
    return [provider.at(minor) for provider in PROVIDERS if provider.group.since <= minor.version]


def beta_versions(minor: Minor) -> frozenset[tuple[str, str]]:
    """The groups and versions of a minor that are served only with --runtime-config."""
    return frozenset(
        (provider.group.name, version)
        for provider in providers_of(minor)
        for version in provider.group.versions
        if not enablement.is_stable(version)
    )
