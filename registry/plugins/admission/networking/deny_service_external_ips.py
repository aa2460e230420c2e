"""DenyServiceExternalIPs: refuses new addresses in the externalIPs of services."""

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.generic.admission import refusals
from aio_apiserver.registry.generic.admission.interface import Attributes, Operation, Plugin
from aio_apiserver.registry.groups.core.services.services import SERVICES

_SERVICES = SERVICES.resource


class DenyServiceExternalIPs(Plugin):
    """Lets a service keep the addresses that it has."""

    name = "DenyServiceExternalIPs"
    operations = frozenset({Operation.CREATE, Operation.UPDATE})
    resources = frozenset({_SERVICES})

    async def validate(self, attributes: Attributes) -> None:
        if attributes.resource != _SERVICES or attributes.subresource:
            return
        if not _addresses(attributes.obj) <= _addresses(attributes.old):
            raise refusals.forbidden(attributes, "Use of external IPs is denied by admission control")


def _addresses(service: Object | None) -> set[str]:
    return set(service["spec"].get("externalIPs") or ()) if service else set()
