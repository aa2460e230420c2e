"""Validating: the admission plugin ValidatingAdmissionPolicy, whose policies refuse a write, warn of it or audit it.

Must hold: an error in a policy or binding counts as failurePolicy says. The client gets the first of several denials.
"""

from collections.abc import Sequence
from typing import NamedTuple

from msgspec import Struct

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.errors import Cause, Forbidden, StatusError
from aio_apiserver.registry.base.request_steps import RequestStep
from aio_apiserver.registry.generic.admission.form import AdmissionForm
from aio_apiserver.registry.generic.admission.interface import Attributes, Plugin
from aio_apiserver.registry.generic.admission.refusals import forbidden
from aio_apiserver.registry.generic.resource import resource_of
from aio_apiserver.registry.generic.rest import Foundation
from aio_apiserver.registry.groups.admissionregistration.validatingadmissionpolicies import VALIDATINGADMISSIONPOLICIES
from aio_apiserver.registry.groups.admissionregistration.validatingadmissionpolicybindings import (
    VALIDATINGADMISSIONPOLICYBINDINGS,
)
from aio_apiserver.registry.groups.core.namespaces.namespaces import NAMESPACES
from aio_apiserver.registry.plugins.admission.condition_metrics import ConditionMetrics
from aio_apiserver.registry.plugins.admission.matching import Matcher, is_beyond_policies
from aio_apiserver.registry.plugins.admission.policies.audit_annotations import AuditAnnotations, note_failure
from aio_apiserver.registry.plugins.admission.policies.compiled import AdmissionPolicy, PolicyBinding, Validation
from aio_apiserver.registry.plugins.admission.policies.evaluated_write import EvaluatedWrite
from aio_apiserver.registry.plugins.admission.policies.evaluation import (
    Decisions,
    Evaluation,
    ExpressionOutcome,
    OutOfBudget,
)
from aio_apiserver.registry.plugins.admission.policies.match_conditions import Undetermined
from aio_apiserver.registry.plugins.admission.policies.params import Misconfigured, Params
from aio_apiserver.registry.plugins.admission.policies.sources import Source
from aio_apiserver.storage.errors import StorageError

_LONGEST_MESSAGE = 5 * 1024
_CODES = {"Forbidden": 403, "Unauthorized": 401, "RequestEntityTooLarge": 413}
_INVALID = 422


class _Denial(Struct, frozen=True):
    """The denial of a request by a policy. `binding` is empty when the policy itself is wrong."""

    policy: str
    binding: str
    message: str
    reason: str = "Invalid"

    def __str__(self) -> str:
        with_binding = f" with binding '{self.binding}'" if self.binding else ""
        return f"ValidatingAdmissionPolicy '{self.policy}'{with_binding} denied request: {self.message}"


class ValidatingAdmissionPolicy(Plugin):
    """Evaluates all matching policies."""

    name = "ValidatingAdmissionPolicy"

    def __init__(self, given: Foundation) -> None:
        self._source = Source(given.storage_for, VALIDATINGADMISSIONPOLICIES, VALIDATINGADMISSIONPOLICYBINDINGS)
        self._matcher = Matcher(given.storage_for(resource_of(NAMESPACES)), given.types)
        self._params = Params(given)
        self._access = given.authorizer
        self._metrics = given.metrics.of(ConditionMetrics)
        self._clock = given.clock.patience

    async def validate(self, attributes: Attributes) -> None:
        if is_beyond_policies(attributes):
            return
        hooks = await self._source.hooks()
        if not hooks:
            return
        write = self._write(attributes)
        denials: list[_Denial] = []
        for policy, bindings in hooks:
            denials += await self._ask(policy, bindings, write)
        if denials:
            raise _refusal(attributes, denials[0])

    def _write(self, attributes: Attributes) -> EvaluatedWrite:
        return EvaluatedWrite(attributes, self._matcher, self._access, self._metrics, self._clock)

    async def _ask(
        self, policy: AdmissionPolicy, bindings: Sequence[PolicyBinding], write: EvaluatedWrite
    ) -> list[_Denial]:
        try:
            form = await self._matcher.match(write.attributes, policy.criteria)
            if form is None:
                return []
            await self._params.check(policy.param_kind)
        except StatusError as exc:
            return _failed(policy, None, f"failed to configure policy: {exc.message}")
        except Misconfigured as exc:
            return _failed(policy, None, f"failed to configure policy: {exc}")
        denials: list[_Denial] = []
        notes = AuditAnnotations()
        for binding in bindings:
            try:
                denials += await self._ask_bound(policy, binding, _Matched(form, write, notes))
            except (Misconfigured, StorageError) as exc:
                denials += _failed(policy, binding, f"failed to configure binding: {exc}")
            except StatusError as exc:
                denials += _failed(policy, binding, f"failed to configure binding: {exc.message}")
        notes.publish(policy.name, write.attributes.annotate)
        return denials

    async def _ask_bound(self, policy: AdmissionPolicy, binding: PolicyBinding, matched: "_Matched") -> list[_Denial]:
        write = matched.write
        if binding.criteria is not None and await self._matcher.match(write.attributes, binding.criteria) is None:
            return []
        denials: list[_Denial] = []
        for params in await self._params.collect(policy.param_kind, binding.param_ref, write.attributes):
            denials += await self._ask_with(params, policy, binding, matched)
        return denials

    async def _ask_with(
        self, params: Object | None, policy: AdmissionPolicy, binding: PolicyBinding, matched: "_Matched"
    ) -> list[_Denial]:
        form, write, notes = matched
        conditions = await write.inputs(policy, form, params, has_namespace=False)
        try:
            if not await write.matches_conditions(policy, conditions):
                return []
        except Undetermined as exc:
            return self._enforce([_Failure(0, "Invalid", str(exc))], policy, binding, write)
        seen = await write.inputs(policy, form, params)
        found = await _judge(policy, seen.evaluation(), write.answers)
        denials = self._enforce(found, policy, binding, write)
        values, wrong = await _annotate(policy, seen.evaluation(), write.answers)
        for key, value in values:
            notes.add(key, value)
        return denials + [_Denial(policy.name, binding.name, message) for message in wrong]

    def _enforce(
        self, found: Sequence["_Failure"], policy: AdmissionPolicy, binding: PolicyBinding, write: EvaluatedWrite
    ) -> list[_Denial]:
        """Apply the validationActions of the binding to failed validations. Returns the denials."""
        denials = []
        for index, reason, message in found:
            verdict = "refused" if "Deny" in binding.actions else "warned"
            write.attributes.note_step(RequestStep("policy", policy.name, verdict, detail=message))
            if "Deny" in binding.actions:
                denials.append(_Denial(policy.name, binding.name, message, reason))
            if "Audit" in binding.actions:
                note_failure(write.attributes.annotate, binding, index, message)
            if "Warn" in binding.actions:
                write.attributes.warn(
                    f"Validation failed for ValidatingAdmissionPolicy '{policy.name}' "
                    f"with binding '{binding.name}': {message}"
                )
        return denials


class _Failure(NamedTuple):
    """A failed validation: its number, reason and message."""

    number: int
    reason: str
    message: str


class _Matched(NamedTuple):
    """A matched write: the form in which a policy matched it, and its audit annotations."""

    form: AdmissionForm
    write: EvaluatedWrite
    notes: AuditAnnotations


async def _judge(policy: AdmissionPolicy, evaluation: Evaluation, answers: Decisions) -> list[_Failure]:
    """The validations that fail."""
    try:
        outcomes = [await answers.outcome(evaluation, one.condition) for one in policy.validations]
    except OutOfBudget as exc:
        return [] if policy.ignores_failures else [_Failure(0, "Invalid", str(exc))]
    found = []
    for index, (validation, outcome) in enumerate(zip(policy.validations, outcomes, strict=True)):
        if outcome.failure:
            found += [] if policy.ignores_failures else [_Failure(index, "Invalid", outcome.failure)]
        elif outcome.value is not True:
            found.append(_Failure(index, validation.reason, await _message(validation, evaluation, answers)))
    return found


async def _message(validation: Validation, evaluation: Evaluation, answers: Decisions) -> str:
    """The message of the expression, or the usual one when the expression gives no text or the budget is used up."""
    if validation.message_expression is not None:
        try:
            text = _text(await answers.outcome(evaluation, validation.message_expression))
        except OutOfBudget:
            text = ""
        if text and len(text.encode()) <= _LONGEST_MESSAGE and "\n" not in text:
            return text
    return validation.message or f"failed expression: {validation.condition.text.strip()}"


def _text(outcome: ExpressionOutcome) -> str:
    return outcome.value.strip() if isinstance(outcome.value, str) and not outcome.failure else ""


async def _annotate(
    policy: AdmissionPolicy, evaluation: Evaluation, answers: Decisions
) -> tuple[list[tuple[str, str]], list[str]]:
    """The values of the audit annotations, and the errors of their expressions."""
    try:
        outcomes = [(key, await answers.outcome(evaluation, expression)) for key, expression in policy.annotations]
    except OutOfBudget as exc:
        return [], [] if policy.ignores_failures else [str(exc)]
    values = [(key, text) for key, outcome in outcomes if (text := _text(outcome))]
    wrong = [outcome.failure for _, outcome in outcomes if outcome.failure]
    return values, [] if policy.ignores_failures else wrong


def _failed(policy: AdmissionPolicy, binding: PolicyBinding | None, message: str) -> list[_Denial]:
    if policy.ignores_failures:
        return []
    return [_Denial(policy.name, binding.name if binding is not None else "", message)]


def _refusal(attributes: Attributes, denial: _Denial) -> Forbidden:
    """A Forbidden with the reason of the policy."""
    message = str(denial)
    failure = forbidden(attributes, message, causes=[Cause("", message)])
    failure.reason = denial.reason
    failure.code = _CODES.get(denial.reason, _INVALID)
    return failure
