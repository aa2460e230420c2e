"""Configurations: the webhooks of all configurations of one kind, from a watch.

Must hold: webhooks are sorted by the name of their configuration, then in the order within it. A configuration is read
once a revision. Match conditions are compiled at the first write that matches the rules; long ones in the worker
thread.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from aio_apiserver.base import worker_thread
from aio_apiserver.base.clock import Clock
from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.generic.following import Following
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.lookups import Lookup
from aio_apiserver.registry.generic.resource import resource_of
from aio_apiserver.registry.generic.rest import ReaderFor
from aio_apiserver.registry.plugins.admission.matching import Criteria, criteria_of_webhook
from aio_apiserver.storage.stored_object import StoredObject

if TYPE_CHECKING:
    from aio_apiserver.registry.plugins.admission.webhooks.match_conditions import Conditions

_LONGEST_SECONDS = 30
_LONG_EXPRESSIONS = 1024
"""Characters: to compile so many takes some milliseconds."""


class AdmissionWebhook(Struct, frozen=True, kw_only=True, dict=True):
    """One webhook of a configuration. `uid` is unique, also among webhooks of the same name."""

    name: str
    configuration: str
    uid: str
    client: Mapping[str, Any]
    criteria: Criteria
    review_versions: Sequence[str]
    side_effects: str | None
    seconds: int
    ignores_failures: bool
    is_reinvoked: bool
    stated_conditions: Sequence[Mapping[str, Any]]

    async def conditions(self) -> "Conditions | None":
        """The compiled match conditions; None when there are none."""
        if not self.stated_conditions:
            return None
        length = sum(len(one.get("expression") or "") for one in self.stated_conditions)
        if length >= _LONG_EXPRESSIONS and "_conditions" not in vars(self):
            return await worker_thread.run(lambda: self._conditions, worker_thread.STORE)
        return self._conditions

    @cached_property
    def _conditions(self) -> "Conditions":
        # Imported here, so that servers without match conditions do not load CEL.
        from aio_apiserver.registry.plugins.admission.webhooks.match_conditions import Conditions

        return Conditions(self.stated_conditions, ignores_failures=self.ignores_failures)


class Configurations:
    """Follows the configurations of a kind. Before the first list has arrived, each write reads them."""

    def __init__(self, storage_for: ReaderFor, kind: Kind) -> None:
        storage = storage_for(resource_of(kind))
        self._lookup = Lookup(storage, kind.resource, _webhooks_of)
        self._following = Following(storage, _read, self._changed)
        self._is_followed = False
        self._present: Sequence[AdmissionWebhook] | None = None

    async def run(self, clock: Clock) -> None:
        """Watch until cancelled."""
        await self._following.run(clock)

    async def webhooks(self) -> Sequence[AdmissionWebhook]:
        """All webhooks, in order. Raises StatusError."""
        if self._present is not None:
            return self._present
        if not self._is_followed:
            return [webhook for webhooks in await self._lookup.list() for webhook in webhooks]
        items = self._following.items
        self._present = [webhook for name in sorted(items) for webhook in items[name]]
        return self._present

    def _changed(self, _names: Collection[str]) -> None:
        self._is_followed = True
        self._present = None


def _read(stored: StoredObject) -> Sequence[AdmissionWebhook]:
    return _webhooks_of(stored.decode())


def _webhooks_of(configuration: Object) -> Sequence[AdmissionWebhook]:
    return list(_each(configuration["metadata"]["name"], configuration.get("webhooks") or ()))


def _each(configuration: str, webhooks: Sequence[Mapping[str, Any]]) -> Iterator[AdmissionWebhook]:
    seen: dict[str, int] = {}
    for one in webhooks:
        name = one["name"]
        yield AdmissionWebhook(
            name=name,
            configuration=configuration,
            uid=f"{configuration}/{name}/{seen.get(name, 0)}",
            client=one.get("clientConfig") or {},
            criteria=criteria_of_webhook(one),
            review_versions=one.get("admissionReviewVersions") or (),
            side_effects=one.get("sideEffects"),
            seconds=one.get("timeoutSeconds") or _LONGEST_SECONDS,
            ignores_failures=one.get("failurePolicy") == "Ignore",
            is_reinvoked=one.get("reinvocationPolicy") == "IfNeeded",
            stated_conditions=one.get("matchConditions") or (),
        )
        seen[name] = seen.get(name, 0) + 1
