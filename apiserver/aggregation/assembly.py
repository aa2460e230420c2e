"""Assembly: builds the aggregation layer from the flags: the APIServices, and the gateway to their servers."""

from contextlib import AsyncExitStack

from msgspec import Struct

from aio_apiserver.apiserver.aggregation.gateway import Gateway
from aio_apiserver.apiserver.config.settings import Settings
from aio_apiserver.apiserver.metrics import aggregation
from aio_apiserver.apiserver.metrics.metric_families import Measures
from aio_apiserver.base.clock import Clock
from aio_apiserver.registry.generic.resource import resource_of
from aio_apiserver.registry.generic.rest import ReaderFor
from aio_apiserver.registry.groups.apiregistration.apiservices import APISERVICES
from aio_apiserver.registry.groups.apiregistration.registrations import Registrations
from aio_apiserver.registry.groups.apiregistration.service_resolver import Resolver
from aio_apiserver.registry.groups.discovery.endpointslices import ENDPOINTSLICES


class Aggregation(Struct, frozen=True):
    """The APIServices, and the gateway to their servers."""

    registrations: Registrations
    gateway: Gateway


def open_aggregation(
    settings: Settings,
    storage_for: ReaderFor,
    clock: Clock,
    *,
    measures: Measures,
    stack: AsyncExitStack,
) -> Aggregation:
    """Build the aggregation layer. Nothing connects before an APIService names a server."""
    registrations = Registrations(storage_for(resource_of(APISERVICES)))
    resolver = Resolver(storage_for, slices=ENDPOINTSLICES, uses_endpoints=settings.enable_aggregator_routing)
    forwards_uid = settings.minor.is_open("RemoteRequestHeaderUID")
    gateway = Gateway(settings, registrations, resolver, clock.patience, forwards_uid=forwards_uid)
    stack.push_async_callback(gateway.close)
    measures.ask(lambda: aggregation.families(registrations))
    return Aggregation(registrations, gateway)
