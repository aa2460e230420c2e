"""Where the services are that serve webhooks."""

from collections.abc import Awaitable, Callable

from registry.core.services import SERVICES
from registry.customresources.conversion import WebhookFailed
from registry.generic.provider import resource_of
from registry.quoting import quote
from registry.rest import StorageFor
from storage.errors import KeyNotFound, StorageError


def address_finder(storage_for: StorageFor) -> Callable[[str, str], Awaitable[str]]:
    """Finds the cluster IP of a service by its namespace and name, or says why it cannot."""

    async def find(namespace: str, name: str) -> str:
        services = storage_for(resource_of(SERVICES))
        try:
            service = (await services.get(f"{namespace}/{name}", resource_version=0)).decode()
        except KeyNotFound as exc:
            raise WebhookFailed(f"service {quote(name)} not found") from exc
        except StorageError as exc:
            raise WebhookFailed(str(exc)) from exc
        address: str = (service.get("spec") or {}).get("clusterIP") or ""
        if not address or address == "None":
            raise WebhookFailed(f"service {quote(name)} has no cluster IP")
        return address

    return find
