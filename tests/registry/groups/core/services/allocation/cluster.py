"""The allocation of one server on storage in memory, with one block of cluster IPs."""

from typing import Any

from aio_apiserver.base.clock import ManualClock
from aio_apiserver.registry.controlplane.assembly import assemble, environment_of
from aio_apiserver.registry.controlplane.bootstrap import service_repair
from aio_apiserver.registry.generic.access.users import MASTERS, UserInfo
from aio_apiserver.registry.generic.config import Config
from aio_apiserver.registry.generic.options import CreateOptions, DeleteOptions, UpdateOptions
from aio_apiserver.registry.generic.rest import Made, Request, UpdatedObject
from aio_apiserver.registry.generic.store.store import Store
from aio_apiserver.registry.groups.core.services.allocation.metrics import AllocationMetrics
from aio_apiserver.registry.groups.core.services.allocation.node_ports import RANGES, NodePorts
from aio_apiserver.registry.groups.core.services.services import SERVICES
from aio_apiserver.registry.groups.networking.ipaddresses import IPADDRESSES
from aio_apiserver.registry.groups.networking.servicecidrs import SERVICECIDRS
from aio_apiserver.storage.factory.factory import StorageFactory
from aio_apiserver.storage.interface import ListOptions
from aio_apiserver.storage.stored_object import StoredObject
from tests.registry.defaulted import defaulted
from tests.registry.foundations import foundation_on

_PLUGINS = ("NamespaceLifecycle", "ResourceQuota")


class Cluster:
    """Services as clients see them, and the addresses and ports that are allocated for them."""

    def __init__(self, factory: StorageFactory) -> None:
        self.clock = ManualClock()
        self.given = foundation_on(factory, clock=self.clock, config=Config(disabled_admission=_PLUGINS))
        groups = assemble(environment_of(self.given))
        services, addresses = groups[""]["v1"]["services"], groups["networking.k8s.io"]["v1"]["ipaddresses"]
        cidrs = groups["networking.k8s.io"]["v1"]["servicecidrs"]
        assert isinstance(services, Store)
        assert isinstance(addresses, Store)
        assert isinstance(cidrs, Store)
        self.services, self._addresses, self._cidrs = services, addresses, cidrs
        self.node_ports = NodePorts(
            factory.storage_for(RANGES), self.given.config.service_node_ports, self.given.metrics.of(AllocationMetrics)
        )
        self.repair = service_repair.repair(groups, self.given)

    async def begin(self) -> None:
        cidr = defaulted(SERVICECIDRS, {"metadata": {"name": "kubernetes"}, "spec": {"cidrs": ["10.0.0.0/24"]}})
        await self._cidrs.create(_request(), cidr, CreateOptions())

    async def add_block(self, name: str, block: str) -> None:
        """Add another block of addresses, one second later."""
        self.clock.advance(1)
        body = {"metadata": {"name": name}, "spec": {"cidrs": [block]}}
        await self._cidrs.create(_request(), defaulted(SERVICECIDRS, body), CreateOptions())

    async def create(self, name: str, *, dry_run: bool = False, **spec: Any) -> dict[str, Any]:
        body = {"metadata": {"name": name}, "spec": {"ports": [{"port": 80}], **spec}}
        options = CreateOptions(dry_run=("All",) if dry_run else ())
        stored = await self.services.create(_request("default"), defaulted(SERVICES, body), options)
        return _spec(stored)

    async def change(self, name: str, **spec: Any) -> dict[str, Any]:
        async def make(current: StoredObject | None) -> Made:
            assert current is not None
            obj = current.decode()
            kept = {key: value for key, value in {**obj["spec"], **spec}.items() if value is not None}
            return Made(defaulted(SERVICES, {**obj, "spec": kept}))

        return _spec(
            (await self.services.update(_request("default"), name, UpdatedObject(make), UpdateOptions())).stored
        )

    async def delete(self, name: str) -> None:
        await self.services.delete(_request("default"), name, DeleteOptions())

    async def forget(self, address: str) -> None:
        """Delete the IPAddress object of an address."""
        await self._addresses.delete(_request(), address, DeleteOptions())

    async def leak(self, address: str, port: int) -> None:
        """Allocate an address and a port for a service that does not exist."""
        parent = {"resource": "services", "namespace": "default", "name": "gone"}
        labels = {
            "ipaddress.kubernetes.io/ip-family": "IPv4",
            "ipaddress.kubernetes.io/managed-by": "ipallocator.k8s.io",
        }
        body = {"metadata": {"name": address, "labels": labels}, "spec": {"parentRef": parent}}
        await self._addresses.create(_request(), defaulted(IPADDRESSES, body), CreateOptions())
        await self.node_ports.change(lambda stock: stock.take(port))

    async def addresses(self) -> set[str]:
        return {item.key for item in (await self._addresses.list(_request(), ListOptions())).items}

    async def ports(self) -> set[int]:
        return (await self.node_ports.present()).ports()


def _request(namespace: str = "") -> Request:
    user = UserInfo(name="admin", groups=(MASTERS,))
    return Request(user=user, version="v1", warn=lambda _warning: None, namespace=namespace)


def _spec(stored: StoredObject) -> dict[str, Any]:
    spec: dict[str, Any] = stored.decode()["spec"]
    return spec
