"""The status of APIServices: whether requests for their groups can be answered.

Those without a service are answered here and always available. For the others the service has to be there, listening
and with endpoints.
"""

from collections.abc import Iterable
from functools import partial

from registry import objects
from registry.bootstrap import conditions
from registry.bootstrap.api_services import APISERVICES
from registry.bootstrap.own_client import OwnClient, Place
from registry.quoting import quote
from storage.clock import Clock
from storage.stored_object import Object

SERVICES = Place("", "v1", "services")
ENDPOINTSLICES = Place("discovery.k8s.io", "v1", "endpointslices")

_STATUS = APISERVICES._replace(path="apiservices/status")
_AVAILABLE = "Available"
_DEFAULT_PORT = 443
_SERVICE_NAME = "kubernetes.io/service-name"


async def settle(client: OwnClient, clock: Clock) -> None:
    """Write the condition of every APIService that has a wrong one."""
    for api_service in await client.all(APISERVICES):
        status, reason, message = await _availability(client, api_service["spec"].get("service"))
        wanted = {"type": _AVAILABLE, "status": status, "reason": reason, "message": message}
        mend = partial(conditions.settle, wanted=wanted, now=clock.now())
        if mend(api_service):
            await client.change(_STATUS, api_service["metadata"]["name"], mend)


async def _availability(client: OwnClient, service: Object | None) -> tuple[str, str, str]:
    """Status, reason and message."""
    if not service:
        return "True", "Local", "Local APIServices are always available"
    name, namespace = service.get("name", ""), service.get("namespace", "")
    who = f"service/{name} in {quote(namespace)}"
    found = [one for one in await client.all(SERVICES, namespace=namespace) if one["metadata"]["name"] == name]
    if not found:
        return "False", "ServiceNotFound", f"{who} is not present"
    if found[0]["spec"].get("type") == "ExternalName":
        return "True", "Passed", "all checks passed"
    port = service.get("port", _DEFAULT_PORT)
    listening = [one for one in found[0]["spec"].get("ports") or () if one.get("port") == port]
    if not listening:
        return "False", "ServicePortError", f"{who} is not listening on port {port}"
    slices = await client.all(ENDPOINTSLICES, namespace=namespace)
    return _reachability(who, name, listening[0].get("name", ""), slices)


def _reachability(who: str, name: str, port_name: str, slices: Iterable[Object]) -> tuple[str, str, str]:
    of_service = [one for one in slices if (one["metadata"].get("labels") or {}).get(_SERVICE_NAME) == name]
    if not of_service:
        return "False", "EndpointsNotFound", f"cannot find endpointslices for {who}"
    if not any(_has_address(one, port_name) for one in of_service):
        message = f"endpointslices for {who} have no addresses with port name {quote(port_name)}"
        return "False", "MissingEndpoints", message
    return "True", "Passed", "all checks passed"


def _has_address(endpoint_slice: Object, port_name: str) -> bool:
    names = {port.get("name", "") for port in endpoint_slice.get("ports") or ()}
    return port_name in names and any(
        endpoint.get("addresses") and objects.get(endpoint, "conditions.ready", True)
        for endpoint in endpoint_slice.get("endpoints") or ()
    )
