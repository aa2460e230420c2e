"""Service addresses: finds the addresses of services that serve conversion webhooks."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.errors import StatusError
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.generic.lookups import Lookup
from aio_apiserver.registry.generic.resource import resource_of
from aio_apiserver.registry.generic.rest import ReaderFor
from aio_apiserver.registry.generic.webhook_calls import WebhookFailed
from aio_apiserver.registry.groups.core.services.services import SERVICES


def address_finder(storage_for: ReaderFor) -> Callable[[str, str, int], Awaitable[str]]:
    """A function that finds the cluster IP or external name of a service. It raises WebhookFailed."""

    services = Lookup(storage_for(resource_of(SERVICES)), SERVICES.resource, _spec)

    async def find(namespace: str, name: str, port: int) -> str:
        try:
            spec = await services.cached(f"{namespace}/{name}")
        except StatusError as exc:
            raise WebhookFailed(exc.message) from exc
        if spec is None:
            raise WebhookFailed(f"service {quote(name)} not found")
        return _address(name, spec, port)

    return find


def _spec(service: Object) -> Object:
    return service.get("spec") or {}


def _address(name: str, spec: Mapping[str, Any], port: int) -> str:
    kind, address = spec.get("type"), spec.get("clusterIP") or ""
    if kind == "ExternalName":
        return str(spec.get("externalName") or "")
    if address in {"", "None"}:
        raise WebhookFailed('cannot route to service with ClusterIP "None"')
    if all(one.get("port") != port for one in spec.get("ports") or ()):
        raise WebhookFailed(f"no service port {port} found for service {quote(name)}")
    return str(address)
