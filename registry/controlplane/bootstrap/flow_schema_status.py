"""flow_schema_status: writes the Dangling condition of FlowSchemas: whether their priority level exists."""

from contextlib import suppress
from functools import partial

from aio_apiserver.base.clock import Clock
from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import objects
from aio_apiserver.registry.base.errors import NotFound
from aio_apiserver.registry.controlplane.bootstrap import status_conditions
from aio_apiserver.registry.controlplane.bootstrap.flow_control import FLOWSCHEMAS, PRIORITY_LEVELS
from aio_apiserver.registry.controlplane.bootstrap.own_client import OwnClient

_STATUS = FLOWSCHEMAS._replace(path="flowschemas/status")
_DANGLING = "Dangling"
_MANAGER = "api-priority-and-fairness-config-consumer-v1"


async def settle(client: OwnClient, clock: Clock) -> None:
    """Write the condition of every FlowSchema whose condition is wrong."""
    levels = {level["metadata"]["name"] for level in await client.all(PRIORITY_LEVELS)}
    for schema in await client.all(FLOWSCHEMAS):
        wanted = partial(_new_status, levels=levels, now=clock.now())
        if wanted(schema) is not None:
            with suppress(NotFound):  # it was deleted meanwhile
                await client.apply_status(_STATUS, schema["metadata"]["name"], wanted, manager=_MANAGER)


def _new_status(schema: Object, *, levels: set[str], now: float) -> Object | None:
    """The status with the right condition; None where the FlowSchema has it."""
    level = objects.get(schema, "spec.priorityLevelConfiguration.name", "")
    condition = _dangling(level) if level not in levels else _existing(level)
    return status_conditions.wanted_status(schema, condition, now=now)


def _existing(level: str) -> Object:
    message = f'This FlowSchema references the PriorityLevelConfiguration object named "{level}" and it exists'
    return {"type": _DANGLING, "status": "False", "reason": "Found", "message": message}


def _dangling(level: str) -> Object:
    message = (
        f'This FlowSchema references the PriorityLevelConfiguration object named "{level}" but there is no such object'
    )
    return {"type": _DANGLING, "status": "True", "reason": "NotFound", "message": message}
