"""Selecting: which webhooks hear of a write, and as what."""

from collections.abc import Awaitable, Callable

from registry.access.authorizer import Authorizer
from registry.admission.forms import Form
from registry.admission.interface import Attributes
from registry.admission.matching import Matcher
from registry.admission.webhooks.configurations import Webhook
from registry.admission.webhooks.shown import Shown
from registry.core.namespaces import NAMESPACES
from registry.generic.provider import resource_of
from registry.rest import Foundation

Show = Callable[[Form], Awaitable[Shown]]
"""The write in a form. Raises InternalError."""


class Selector:
    """Knows rules, selectors and conditions."""

    def __init__(self, given: Foundation) -> None:
        self._matcher = Matcher(given.storage_for(resource_of(NAMESPACES)), given.types)
        self._access: Authorizer = given.authorizer

    def own_form(self, attributes: Attributes) -> Form:
        """That in which a write was made."""
        return self._matcher.forms(attributes)[0]

    async def select(self, webhook: Webhook, attributes: Attributes, show: Show) -> Form | None:
        """As what a webhook hears of a write; None when it does not. Raises StatusError."""
        form = await self._matcher.match(attributes, webhook.criteria)
        if form is None or webhook.conditions is None:
            return form
        own = self.own_form(attributes)
        return form if await webhook.conditions.hold(attributes, own, await show(form), self._access) else None
