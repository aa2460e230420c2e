"""Endpoints: keeps Endpoints and EndpointSlices of services with a selector."""

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.runtime.client import key_of
from aio_apiserver.controllers.runtime.controller import Controller
from aio_apiserver.controllers.runtime.resources import ENDPOINT_SLICES, ENDPOINTS, NODES, PODS, SERVICES
from aio_apiserver.controllers.services import endpoint_slices as endpoints
from aio_apiserver.registry.generic.in_process_client import ResourcePath


class _OfServices(Controller):
    """The common part: reconciles services when they or their pods change."""

    place: ResourcePath

    def begin(self) -> None:
        self._services = self.follow(SERVICES, key_of)
        self._pods = self.follow(PODS)
        self._pods.listen(self._pod_changed)
        self._made = self.follow(self.place, self._service_of)

    def _service_of(self, obj: Object) -> str:
        raise NotImplementedError

    def _pod_changed(self, _key: str, before: Object | None, after: Object | None) -> None:
        pods = [pod for pod in (before, after) if pod is not None]
        for service in self._services.in_namespace(pods[0]["metadata"]["namespace"]):
            if any(endpoints.selects(service, pod) for pod in pods):
                self.queue.add(key_of(service))

    def pods_of(self, service: Object) -> list[Object]:
        namespace = service["metadata"]["namespace"]
        return [pod for pod in self._pods.in_namespace(namespace) if endpoints.selects(service, pod)]

    async def put(self, wanted: Object, present: Object | None, namespace: str, *members: str) -> None:
        """Create an object, or update its labels and these members."""
        if present is None:
            await self.client.create(self.place, wanted, namespace=namespace)
        elif not endpoints.is_same(wanted, present, *members):

            def mend(obj: Object) -> None:
                obj["metadata"]["labels"] = wanted["metadata"]["labels"]
                obj.update({name: wanted[name] for name in members})

            await self.client.change(self.place, present, mend)


class EndpointsController(_OfServices):
    """Keeps one Endpoints object for each service, with its name."""

    name = "endpoints-controller"
    account = "endpoint-controller"
    place = ENDPOINTS

    def _service_of(self, obj: Object) -> str:
        return key_of(obj)

    async def reconcile(self, key: str) -> float | None:
        service, present = self._services.get(key), self._made.get(key)
        if service is None:
            if present is not None and endpoints.is_own(present):
                await self.client.delete(ENDPOINTS, present)
        elif endpoints.has_selector(service):
            wanted = endpoints.endpoints(service, self.pods_of(service))
            await self.put(wanted, present, service["metadata"]["namespace"], "subsets")
        return None


class EndpointSlices(_OfServices):
    """Keeps EndpointSlices for each service, which name it in a label."""

    name = "endpointslice-controller"
    place = ENDPOINT_SLICES

    def begin(self) -> None:
        super().begin()
        self._nodes = self.follow(NODES)

    def _service_of(self, obj: Object) -> str:
        labels = obj["metadata"].get("labels") or {}
        is_own = labels.get(endpoints.MANAGED_BY) == endpoints.MANAGER
        return f"{obj['metadata']['namespace']}/{labels.get(endpoints.SERVICE_LABEL)}" if is_own else ""

    async def reconcile(self, key: str) -> float | None:
        service, namespace = self._services.get(key), key.partition("/")[0]
        present = [one for one in self._made.in_namespace(namespace) if self._service_of(one) == key]
        wanted: list[Object] = []
        if service is not None and endpoints.has_selector(service):
            wanted = endpoints.slices(service, self.pods_of(service), self._nodes.items, present)
        elif service is not None:
            return None
        by_name = {one["metadata"]["name"]: one for one in present}
        for one in wanted:
            await self.put(one, by_name.pop(one["metadata"].get("name"), None), namespace, "endpoints", "ports")
        for one in by_name.values():
            await self.client.delete(ENDPOINT_SLICES, one)
        return None
