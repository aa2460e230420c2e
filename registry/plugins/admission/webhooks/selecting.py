"""Selecting: which webhooks are called for a write, and in which version."""

from collections.abc import Awaitable, Callable

from aio_apiserver.registry.generic.access.authorizer import Authorizer
from aio_apiserver.registry.generic.admission.form import AdmissionForm
from aio_apiserver.registry.generic.admission.interface import Attributes
from aio_apiserver.registry.generic.resource import resource_of
from aio_apiserver.registry.generic.rest import Foundation
from aio_apiserver.registry.groups.core.namespaces.namespaces import NAMESPACES
from aio_apiserver.registry.plugins.admission.condition_metrics import ConditionMetrics, ConditionRecorder
from aio_apiserver.registry.plugins.admission.matching import Matcher
from aio_apiserver.registry.plugins.admission.webhooks.configurations import AdmissionWebhook
from aio_apiserver.registry.plugins.admission.webhooks.versioned_attributes import VersionedAttributes

Show = Callable[[AdmissionForm], Awaitable[VersionedAttributes]]
"""Returns the write in a form. Raises InternalError."""


class Selector:
    """Applies rules, selectors and match conditions. `step` is the type label in the metrics."""

    def __init__(self, given: Foundation, step: str) -> None:
        self._matcher = Matcher(given.storage_for(resource_of(NAMESPACES)), given.types)
        self._access: Authorizer = given.authorizer
        self._metrics = given.metrics.of(ConditionMetrics)
        self._clock = given.clock.patience
        self._step = step

    def own_form(self, attributes: Attributes) -> AdmissionForm:
        """The form of the request."""
        return self._matcher.forms(attributes)[0]

    async def select(self, webhook: AdmissionWebhook, attributes: Attributes, show: Show) -> AdmissionForm | None:
        """The form in which a webhook gets a write; None when it does not match. Raises StatusError."""
        form = await self._matcher.match(attributes, webhook.criteria)
        if form is None:
            return None
        conditions = await webhook.conditions()
        if conditions is None:
            return form
        own, shown = self.own_form(attributes), await show(form)
        recorder = ConditionRecorder(
            self._metrics, self._clock, webhook.name, "webhook", self._step, attributes.operation
        )
        if await conditions.hold(attributes, own, shown, access=self._access, recorder=recorder):
            return form
        recorder.excluded()
        return None
