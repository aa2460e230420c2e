"""Flows: the classification of requests by the flow schemas and priority levels that are there now."""

import asyncio
from collections.abc import Collection

from registry.access.authorizer import Attributes
from registry.flowcontrol.classification import Classifier, Flow, FlowSchema, flow_schema
from registry.flowcontrol.flowschemas import FLOWSCHEMAS
from registry.flowcontrol.prioritylevelconfigurations import PRIORITYLEVELCONFIGURATIONS
from registry.generic.following import Following
from registry.generic.provider import resource_of
from registry.rest import StorageFor
from storage.clock import Clock
from storage.stored_object import StoredObject


class Flows:
    """Follows both kinds. `changed` is set whenever one of their objects has changed."""

    def __init__(self, storage_for: StorageFor) -> None:
        self.changed = asyncio.Event()
        self._schemas = Following(storage_for(resource_of(FLOWSCHEMAS)), _read_schema, self._note_change)
        self._levels = Following(storage_for(resource_of(PRIORITYLEVELCONFIGURATIONS)), _read_uid, self._note_change)
        self._classifier = Classifier((), {})

    async def run(self, clock: Clock) -> None:
        """Follow until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._schemas.run(clock))
            group.create_task(self._levels.run(clock))

    def flow_of(self, attributes: Attributes) -> Flow | None:
        """The flow of a request, as far as the objects say."""
        return self._classifier.flow_of(attributes)

    def _note_change(self, _keys: Collection[str]) -> None:
        self._classifier = Classifier(list(self._schemas.items.values()), self._levels.items)
        self.changed.set()


def _read_schema(stored: StoredObject) -> FlowSchema:
    return flow_schema(stored.decode())


def _read_uid(stored: StoredObject) -> str:
    uid: str = stored.decode()["metadata"]["uid"]
    return uid
