"""Validating: the admission plugin ValidatingAdmissionWebhook, which calls webhooks at the same time.

Must hold: all responses are awaited. Of several denials the client gets that of the first webhook.
"""

import asyncio

from aio_apiserver.registry.base.names import GroupVersionKind
from aio_apiserver.registry.generic.admission.form import AdmissionForm
from aio_apiserver.registry.generic.admission.interface import Attributes, Plugin, Run
from aio_apiserver.registry.generic.rest import Foundation
from aio_apiserver.registry.groups.admissionregistration.validatingwebhookconfigurations import (
    VALIDATINGWEBHOOKCONFIGURATIONS,
)
from aio_apiserver.registry.plugins.admission.matching import is_configuration
from aio_apiserver.registry.plugins.admission.webhook_metrics import WebhookMetrics
from aio_apiserver.registry.plugins.admission.webhooks.calls import Caller
from aio_apiserver.registry.plugins.admission.webhooks.configurations import AdmissionWebhook, Configurations
from aio_apiserver.registry.plugins.admission.webhooks.outcomes import VALIDATING, Outcomes
from aio_apiserver.registry.plugins.admission.webhooks.selecting import Selector
from aio_apiserver.registry.plugins.admission.webhooks.versioned_attributes import VersionedAttributes, convert


class ValidatingAdmissionWebhook(Plugin):
    """Calls all matching webhooks."""

    name = "ValidatingAdmissionWebhook"

    def __init__(self, given: Foundation) -> None:
        self._configurations = Configurations(given.storage_for, VALIDATINGWEBHOOKCONFIGURATIONS)
        self._selector = Selector(given, VALIDATING)
        self._caller = Caller(self.name, given, mutates=False)
        self._outcomes = Outcomes(given.metrics.of(WebhookMetrics), given.clock.patience, VALIDATING)

    @property
    def runs(self) -> tuple[Run, ...]:
        return (self._configurations.run,)

    async def validate(self, attributes: Attributes) -> None:
        webhooks = await self._configurations.webhooks()
        if not webhooks or is_configuration(attributes):
            return
        views = _Views(attributes)
        calls = []
        for webhook in webhooks:
            form = await self._selector.select(webhook, attributes, views.show)
            if form is not None:
                calls.append((webhook, await views.show(form)))
        if not calls:
            return
        asking = (self._ask(webhook, attributes, one, index) for index, (webhook, one) in enumerate(calls))
        for outcome in await asyncio.gather(*asking, return_exceptions=True):
            if outcome is not None:
                raise outcome

    async def _ask(
        self, webhook: AdmissionWebhook, attributes: Attributes, one: VersionedAttributes, index: int
    ) -> None:
        await self._outcomes.of(webhook, attributes, f"round_0_index_{index}", self._call(webhook, attributes, one))

    async def _call(
        self, webhook: AdmissionWebhook, attributes: Attributes, one: VersionedAttributes
    ) -> tuple[str, ...]:
        """Call a webhook, which changes no field. Raises CallFailed, StatusError."""
        await self._caller.ask(webhook, attributes, self._selector.own_form(attributes), one)
        return ()


class _Views:
    """A write in each form that a webhook wants, converted once for each kind."""

    def __init__(self, attributes: Attributes) -> None:
        self._attributes = attributes
        self._made: dict[GroupVersionKind, VersionedAttributes] = {}

    async def show(self, form: AdmissionForm) -> VersionedAttributes:
        view = self._made.get(form.kind)
        if view is None:
            view = self._made[form.kind] = await convert(self._attributes, form)
        # # Two resources may have objects of one kind.
        return view if view.form is form else VersionedAttributes(form, view.obj, view.old)
