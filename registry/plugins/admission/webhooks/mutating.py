"""Mutating: the admission plugin MutatingAdmissionWebhook, which calls webhooks one after the other.

Must hold: each webhook sees the changes of the webhooks before it, with defaults. A webhook with reinvocationPolicy
IfNeeded is called again after later changes, once all other plugins have run. A webhook is called twice at most.
"""

from collections.abc import Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import objects
from aio_apiserver.registry.generic.admission.form import AdmissionForm
from aio_apiserver.registry.generic.admission.interface import Attributes, Plugin, Run
from aio_apiserver.registry.generic.rest import Foundation
from aio_apiserver.registry.groups.admissionregistration.mutatingwebhookconfigurations import (
    MUTATINGWEBHOOKCONFIGURATIONS,
)
from aio_apiserver.registry.plugins.admission.matching import is_configuration
from aio_apiserver.registry.plugins.admission.webhook_metrics import WebhookMetrics
from aio_apiserver.registry.plugins.admission.webhooks import audit_annotations as audit
from aio_apiserver.registry.plugins.admission.webhooks import patching
from aio_apiserver.registry.plugins.admission.webhooks.calls import Caller
from aio_apiserver.registry.plugins.admission.webhooks.configurations import AdmissionWebhook, Configurations
from aio_apiserver.registry.plugins.admission.webhooks.outcomes import MUTATING, Outcomes
from aio_apiserver.registry.plugins.admission.webhooks.selecting import Selector
from aio_apiserver.registry.plugins.admission.webhooks.versioned_attributes import VersionedAttributes, convert


class _Notes(Struct):
    """The state that the first round leaves for the second.

    waiting: called webhooks that want reinvocation; wanted: those of them that a later change concerns; last: the
    object after the round.
    """

    waiting: set[str] = field(default_factory=set)
    wanted: set[str] = field(default_factory=set)
    last: Object | None = None

    def note_change(self) -> None:
        self.wanted |= self.waiting
        self.waiting.clear()


class MutatingAdmissionWebhook(Plugin):
    """Calls all matching webhooks and applies their patches."""

    name = "MutatingAdmissionWebhook"

    def __init__(self, given: Foundation) -> None:
        self._configurations = Configurations(given.storage_for, MUTATINGWEBHOOKCONFIGURATIONS)
        self._selector = Selector(given, MUTATING)
        self._version = given.minor.version
        self._caller = Caller(self.name, given, mutates=True)
        self._outcomes = Outcomes(given.metrics.of(WebhookMetrics), given.clock.patience, MUTATING)

    @property
    def runs(self) -> tuple[Run, ...]:
        return (self._configurations.run,)

    async def mutate(self, attributes: Attributes) -> None:
        webhooks = await self._configurations.webhooks()
        if not webhooks or is_configuration(attributes):
            return
        reinvocation = attributes.reinvocation
        notes: _Notes = reinvocation.notes.setdefault(self.name, _Notes())
        if reinvocation.is_again and notes.last != attributes.obj:
            notes.note_change()
        work = _Round(attributes, notes)
        for index, webhook in enumerate(webhooks):
            await self._consider(webhook, work, audit.place_of(attributes, index))
        if work.current is not None:
            await work.current.write_back(attributes)
        notes.last = objects.clone(attributes.obj)

    async def _consider(self, webhook: AdmissionWebhook, work: "_Round", place: str) -> None:
        attributes = work.seen_attributes
        form = await self._selector.select(webhook, attributes, work.show)
        if form is None:
            return
        reinvocation = attributes.reinvocation
        if reinvocation.is_again and webhook.uid not in work.notes.wanted:
            return
        current = await work.show(form)
        is_changed = False
        try:
            asking = self._ask(webhook, work.seen_attributes, current, place)
            is_changed = bool(await self._outcomes.of(webhook, attributes, place, asking))
        finally:
            audit.note_mutation(attributes, webhook, place, is_changed=is_changed)
        if is_changed:
            work.notes.note_change()
            reinvocation.is_wanted = True
        if webhook.is_reinvoked:
            work.notes.waiting.add(webhook.uid)

    async def _ask(
        self, webhook: AdmissionWebhook, attributes: Attributes, current: VersionedAttributes, place: str
    ) -> Sequence[str]:
        """Call a webhook and apply its patch. Returns the changed fields. Raises CallFailed, StatusError."""
        answer = await self._caller.ask(webhook, attributes, self._selector.own_form(attributes), current)
        operations = patching.operations_of(webhook, answer)
        if not operations:
            return ()
        # # Patching modifies the operations.
        stated = objects.clone(operations)
        parsed = patching.patched(
            webhook, answer, operations, form=current.form, obj=current.obj, version=self._version
        )
        is_changed = parsed != current.obj
        fields = [str((one or {}).get("path", "")) for one in stated] if is_changed else []
        audit.note_patch(attributes, webhook, place, stated)
        current.take(parsed)
        return fields


class _Round:
    """One round of all webhooks for one write. `current` is the write in the form that was used last."""

    def __init__(self, attributes: Attributes, notes: _Notes) -> None:
        self._attributes = attributes
        self.notes = notes
        self.current: VersionedAttributes | None = None

    @property
    def seen_attributes(self) -> Attributes:
        """The attributes with the object as changed so far."""
        if self.current is None:
            return self._attributes
        return replace(self._attributes, obj=self.current.obj)

    async def show(self, form: AdmissionForm) -> VersionedAttributes:
        """The write in a form, as changed so far."""
        if self.current is None:
            self.current = await convert(self._attributes, form)
        elif self.current.form.kind != form.kind:
            await self.current.write_back(self._attributes)
            self.current = await convert(self._attributes, form)
        else:
            self.current.form = form
        return self.current
