"""Match conditions: the CEL match conditions of a webhook, compiled once."""

from collections.abc import Mapping, Sequence
from typing import Any

from aio_apiserver.registry.base.errors import Forbidden
from aio_apiserver.registry.generic.access.authorizer import Authorizer
from aio_apiserver.registry.generic.admission.form import AdmissionForm
from aio_apiserver.registry.generic.admission.interface import Attributes
from aio_apiserver.registry.generic.expressions import admission
from aio_apiserver.registry.generic.expressions.admission import Given, UnusableExpression
from aio_apiserver.registry.machinery.cel import types
from aio_apiserver.registry.plugins.admission import admission_requests
from aio_apiserver.registry.plugins.admission.condition_metrics import ConditionRecorder
from aio_apiserver.registry.plugins.admission.policies.evaluation import Decisions, Expression, inputs
from aio_apiserver.registry.plugins.admission.policies.match_conditions import Undetermined, hold
from aio_apiserver.registry.plugins.admission.webhooks.versioned_attributes import VersionedAttributes


class Conditions:
    """The match conditions of one webhook."""

    def __init__(self, stated: Sequence[Mapping[str, Any]], *, ignores_failures: bool) -> None:
        self._expressions = [_compiled(one.get("expression") or "") for one in stated]
        self._ignores_failures = ignores_failures

    async def hold(
        self,
        attributes: Attributes,
        own: AdmissionForm,
        shown: VersionedAttributes,
        *,
        access: Authorizer,
        recorder: ConditionRecorder,
    ) -> bool:
        """Whether all conditions hold for a write. `own` is the form of the request, `shown` the write in the matched
        form. Raises Forbidden.
        """
        answers = Decisions(access, attributes.user.name)
        seen = inputs(
            obj=shown.obj,
            old=shown.old,
            request=admission_requests.request(attributes, own, shown.form),
            namespace=None,
            params=None,
            access=answers.variables(attributes),
            variables={},
        )
        try:
            ignores_failures = self._ignores_failures
            return await hold(self._expressions, seen, answers, ignores_failures=ignores_failures, recorder=recorder)
        except Undetermined as exc:
            raise Forbidden(attributes.resource, attributes.name, why=str(exc)) from exc


def _compiled(text: str) -> Expression:
    try:
        return Expression(text, admission.compiled(admission.environment(Given()), text, (types.BOOL,)))
    except UnusableExpression as exc:
        return Expression(text, mistake=str(exc))
