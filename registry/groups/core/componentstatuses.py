"""ComponentStatuses: the health of etcd, the scheduler and the controller manager, probed at each read.

Nothing is stored. Must hold: a component that does not answer delays the client by no more than the deadline.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from http import HTTPStatus

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import errors
from aio_apiserver.registry.base.names import GroupResource, GroupVersionKind
from aio_apiserver.registry.generic.component_probes import CONTROLLER_MANAGER_PORT, SCHEDULER_PORT, Probe, Unhealthy
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.resource import resource_of
from aio_apiserver.registry.generic.rest import Environment, Request
from aio_apiserver.registry.groups.core.namespaces.namespaces import NAMESPACES
from aio_apiserver.registry.machinery.printing.columns import NAME, Cell, Column, table_of
from aio_apiserver.storage.errors import StorageError
from aio_apiserver.storage.interface import ListOptions, ListResult, Reader
from aio_apiserver.storage.stored_object import ObjectReader, StoredObject


def _health(member: str) -> Cell:
    """A cell with one member of the condition Healthy."""

    def cell(status: Object, _now: float) -> str:
        found: Object = next((one for one in status.get("conditions") or () if one.get("type") == "Healthy"), {})
        if member != "status":
            return str(found.get(member) or "")
        return {None: "Unknown", "True": "Healthy"}.get(found.get(member), "Unhealthy")

    return cell


_COLUMNS = table_of(
    NAME,
    (Column(name="Status", text="Status of the component conditions"), _health("status")),
    (Column(name="Message", text="Message of the component conditions"), _health("message")),
    (Column(name="Error", text="Error of the component conditions"), _health("error")),
)

COMPONENTSTATUSES = Kind(
    group="",
    plural="componentstatuses",
    kind="ComponentStatus",
    is_namespaced=False,
    short_names=("cs",),
    verbs=("get", "list"),
    deprecation="v1 ComponentStatus is deprecated in v1.19+",
    columns=_COLUMNS,
)

_DEADLINE_SECONDS = 20.0


def _unreadable(_data: bytes) -> Object:
    raise ValueError("a component status is never stored")


_READER = ObjectReader(_unreadable, lambda obj: {"metadata.name": obj["metadata"]["name"], "metadata.namespace": ""})

Condition = Mapping[str, str]
Check = Callable[[], Awaitable[Condition]]


class ComponentStatusREST:
    """The statuses of the fixed list of components."""

    def __init__(self, environment: Environment) -> None:
        storage = environment.storage_for(resource_of(NAMESPACES))
        self._checks: Mapping[str, Check] = {
            "controller-manager": partial(_component, environment.probe, CONTROLLER_MANAGER_PORT),
            "etcd-0": partial(_storage, storage),
            "scheduler": partial(_component, environment.probe, SCHEDULER_PORT),
        }

    @property
    def kind(self) -> Kind:
        return COMPONENTSTATUSES

    def object_kind(self, version: str) -> GroupVersionKind:
        return GroupVersionKind("", version, COMPONENTSTATUSES.kind)

    async def get(self, request: Request, name: str, *, resource_version: int | None = None) -> StoredObject:
        check = self._checks.get(name)
        if check is None:
            raise errors.NotFound(GroupResource("", COMPONENTSTATUSES.singular), name)
        return await _status(name, check)

    async def list(self, request: Request, options: ListOptions) -> ListResult:
        every = await asyncio.gather(*(_status(name, check) for name, check in self._checks.items()))
        return ListResult([one for one in every if options.predicate.matches(one)], revision=0)


async def _status(name: str, check: Check) -> StoredObject:
    try:
        async with asyncio.timeout(_DEADLINE_SECONDS):
            condition = await check()
    except TimeoutError:
        condition = {"status": "False", "message": "context deadline exceeded"}
    obj: Object = {"metadata": {"name": name}, "conditions": [{"type": "Healthy", **condition}]}
    return StoredObject.of(name, 0, obj, _READER)


async def _storage(storage: Reader) -> Condition:
    try:
        await storage.get_list("", ListOptions(limit=1))
    except StorageError as exc:
        return {"status": "False", "error": str(exc)}
    return {"status": "True", "message": "ok"}


async def _component(probe: Probe, port: int) -> Condition:
    try:
        answer = await probe(port)
    except Unhealthy as exc:
        return {"status": "False", "message": str(exc)}
    if answer.status == HTTPStatus.OK:
        return {"status": "True", "message": answer.body}
    return {"status": "False", "message": f"HTTP probe failed with statuscode: {answer.status}"}
