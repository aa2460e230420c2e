"""api_service_status: writes the Available condition of APIServices.

An APIService without a service is served here and available. Otherwise the service must exist and listen on the
port. It must have endpoints, and its server must answer discovery for the version.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from functools import partial

from aio_apiserver.base.clock import Clock
from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import objects
from aio_apiserver.registry.base.errors import NotFound
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.controlplane.bootstrap import status_conditions
from aio_apiserver.registry.controlplane.bootstrap.api_services import APISERVICES
from aio_apiserver.registry.controlplane.bootstrap.own_client import OwnClient
from aio_apiserver.registry.generic.in_process_client import ResourcePath
from aio_apiserver.registry.groups.apiregistration import registrations
from aio_apiserver.registry.groups.apiregistration.registrations import AVAILABLE, Registration
from aio_apiserver.registry.groups.apiregistration.service_resolver import SERVICE_NAME
from aio_apiserver.registry.groups.core.services.services import SERVICES as SERVICE_KIND
from aio_apiserver.registry.groups.discovery.endpointslices import ENDPOINTSLICES as ENDPOINTSLICE_KIND

SERVICES = ResourcePath(SERVICE_KIND.group, "v1", SERVICE_KIND.plural)
ENDPOINTSLICES = ResourcePath(ENDPOINTSLICE_KIND.group, "v1", ENDPOINTSLICE_KIND.plural)

_STATUS = APISERVICES._replace(path="apiservices/status")
_CLUSTER_IP = "ClusterIP"

Check = Callable[[Registration], Awaitable[str]]
"""Checks the discovery of the server behind a service. Returns the failure, or an empty text."""

Availability = tuple[str, str, str]
"""Status, reason and message."""

_PASSED: Availability = ("True", "Passed", "all checks passed")


async def settle_local(client: OwnClient, clock: Clock) -> None:
    """Write the condition of every APIService without a service whose condition is wrong."""
    local = ("True", "Local", "Local APIServices are always available")
    for api_service in await client.all(APISERVICES):
        if not api_service["spec"].get("service"):
            await _write(client, clock, api_service, local)


async def settle_remote(client: OwnClient, clock: Clock, check: Check) -> None:
    """Write the condition of every APIService with a service whose condition is wrong."""
    found = [(one, registration) for one in await client.all(APISERVICES) if (registration := registrations.read(one))]
    availabilities = await asyncio.gather(*(_availability(client, registration, check) for _, registration in found))
    for (api_service, _), availability in zip(found, availabilities, strict=True):
        await _write(client, clock, api_service, availability)


async def _write(client: OwnClient, clock: Clock, api_service: Object, availability: Availability) -> None:
    wanted = {"type": AVAILABLE, **dict(zip(("status", "reason", "message"), availability, strict=True))}
    mend = partial(status_conditions.settle, wanted=wanted, now=clock.now())
    if mend(api_service):
        try:
            await client.change(_STATUS, api_service["metadata"]["name"], mend)
        except NotFound:
            return


async def _availability(client: OwnClient, registration: Registration, check: Check) -> Availability:
    name, namespace = registration.service, registration.namespace
    subject = f"service/{name} in {quote(namespace)}"
    found = [one for one in await client.all(SERVICES, namespace=namespace) if one["metadata"]["name"] == name]
    if not found:
        return "False", "ServiceNotFound", f"{subject} is not present"
    spec = found[0]["spec"]
    if spec.get("type", _CLUSTER_IP) == _CLUSTER_IP:
        listening = [one for one in spec.get("ports") or () if one.get("port") == registration.port]
        if not listening:
            return "False", "ServicePortError", f"{subject} is not listening on port {registration.port}"
        slices = await client.all(ENDPOINTSLICES, namespace=namespace)
        missing = _missing(subject, name, listening[0].get("name", ""), slices)
        if missing is not None:
            return missing
    failure = await check(registration)
    return ("False", "FailedDiscoveryCheck", failure) if failure else _PASSED


def _missing(subject: str, name: str, port_name: str, slices: Iterable[Object]) -> Availability | None:
    of_service = [one for one in slices if (one["metadata"].get("labels") or {}).get(SERVICE_NAME) == name]
    if not of_service:
        return "False", "EndpointsNotFound", f"cannot find endpointslices for {subject}"
    if not any(_has_endpoint(one, port_name) for one in of_service):
        message = f"endpointslices for {subject} have no addresses with port name {quote(port_name)}"
        return "False", "MissingEndpoints", message
    return None


def _has_endpoint(endpoint_slice: Object, port_name: str) -> bool:
    names = {port.get("name", "") for port in endpoint_slice.get("ports") or () if port.get("port") is not None}
    return port_name in names and any(
        objects.get(endpoint, "conditions.ready", True) is not False
        for endpoint in endpoint_slice.get("endpoints") or ()
    )
