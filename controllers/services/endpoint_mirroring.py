"""Endpoint mirroring: repeats the Endpoints of services without a selector in EndpointSlices."""

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.runtime.client import key_of
from aio_apiserver.controllers.runtime.controller import Controller
from aio_apiserver.controllers.runtime.resources import ENDPOINT_SLICES, ENDPOINTS, SERVICES
from aio_apiserver.controllers.services import endpoint_mirrors


def _service_of(one: Object) -> str:
    """The key of the service of a mirrored slice; empty for slices of others."""
    if not endpoint_mirrors.is_mirror(one):
        return ""
    metadata = one["metadata"]
    return f"{metadata['namespace']}/{metadata['labels'].get(endpoint_mirrors.SERVICE_LABEL)}"


class EndpointSliceMirroring(Controller):
    """Keeps the mirrors. The queue keys are those of the Endpoints and of their service."""

    name = "endpointslice-mirroring-controller"
    account = "endpointslicemirroring-controller"

    def begin(self) -> None:
        self._endpoints = self.follow(ENDPOINTS, key_of)
        self._services = self.follow(SERVICES, lambda one: "" if one["spec"].get("selector") else key_of(one))
        self._slices = self.follow(ENDPOINT_SLICES, _service_of)

    async def reconcile(self, key: str) -> float | None:
        endpoints, namespace = self._endpoints.get(key), key.partition("/")[0]
        present = [one for one in self._slices.in_namespace(namespace) if _service_of(one) == key]
        wanted: list[Object] = []
        if endpoints is not None and endpoint_mirrors.wants_mirror(endpoints, self._services.get(key)):
            wanted = endpoint_mirrors.slices(endpoints, present)
        by_name = {one["metadata"]["name"]: one for one in present}
        for one in wanted:
            await self._put(one, by_name.pop(one["metadata"].get("name"), None), namespace)
        for one in by_name.values():
            await self.client.delete(ENDPOINT_SLICES, one)
        return None

    async def _put(self, wanted: Object, present: Object | None, namespace: str) -> None:
        if present is None:
            await self.client.create(ENDPOINT_SLICES, wanted, namespace=namespace)
        elif endpoint_mirrors.mend(wanted, {**present, "metadata": dict(present["metadata"])}):
            await self.client.change(ENDPOINT_SLICES, present, lambda one: endpoint_mirrors.mend(wanted, one))
