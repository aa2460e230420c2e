"""Mutating: the admission plugin MutatingAdmissionPolicy, whose policies change an object by patches made in CEL.

Must hold: each policy sees the changes of the policies before it. A policy with reinvocationPolicy IfNeeded is invoked
again when a later policy has changed the object. The result has its defaults.
"""

from collections.abc import AsyncIterator, Sequence

from msgspec import Struct, field

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import objects
from aio_apiserver.registry.base.errors import Cause, Forbidden, InternalError, StatusError
from aio_apiserver.registry.base.request_steps import RequestStep
from aio_apiserver.registry.generic.admission.form import AdmissionForm
from aio_apiserver.registry.generic.admission.interface import Attributes, Operation, Plugin
from aio_apiserver.registry.generic.admission.refusals import forbidden
from aio_apiserver.registry.generic.resource import resource_of
from aio_apiserver.registry.generic.rest import Foundation
from aio_apiserver.registry.groups.admissionregistration.mutatingadmissionpolicies import MUTATINGADMISSIONPOLICIES
from aio_apiserver.registry.groups.admissionregistration.mutatingadmissionpolicybindings import (
    MUTATINGADMISSIONPOLICYBINDINGS,
)
from aio_apiserver.registry.groups.core.namespaces.namespaces import NAMESPACES
from aio_apiserver.registry.machinery.schema import DecodeError
from aio_apiserver.registry.plugins.admission.condition_metrics import ConditionMetrics
from aio_apiserver.registry.plugins.admission.matching import Matcher, is_beyond_policies
from aio_apiserver.registry.plugins.admission.policies import patches
from aio_apiserver.registry.plugins.admission.policies.compiled import AdmissionPolicy, PolicyBinding
from aio_apiserver.registry.plugins.admission.policies.evaluated_write import EvaluatedWrite
from aio_apiserver.registry.plugins.admission.policies.evaluation import OutOfBudget
from aio_apiserver.registry.plugins.admission.policies.match_conditions import Undetermined
from aio_apiserver.registry.plugins.admission.policies.params import Misconfigured, Params
from aio_apiserver.registry.plugins.admission.policies.patches import Unpatchable
from aio_apiserver.registry.plugins.admission.policies.sources import Source
from aio_apiserver.storage.errors import StorageError


class _Denial(Struct, frozen=True):
    """The denial of a request by a policy."""

    policy: str
    binding: str
    message: str
    reason: str = ""

    def __str__(self) -> str:
        if self.binding:
            return f"policy '{self.policy}' with binding '{self.binding}' denied request: {self.message}"
        return f'policy "{self.policy}" denied request: {self.message}'


class _Invocation(Struct, frozen=True):
    """A policy that is bound to a write, with one of its parameters."""

    policy: AdmissionPolicy
    binding: PolicyBinding
    form: AdmissionForm
    params: Object | None


class _Round(Struct):
    """The state of one admission pass: the write and the denials so far."""

    write: EvaluatedWrite
    denials: list[_Denial] = field(default_factory=list)


class MutatingAdmissionPolicy(Plugin):
    """Applies the mutations of all matching policies."""

    name = "MutatingAdmissionPolicy"
    operations = frozenset({Operation.CREATE, Operation.UPDATE})

    def __init__(self, given: Foundation) -> None:
        self._source = Source(given.storage_for, MUTATINGADMISSIONPOLICIES, MUTATINGADMISSIONPOLICYBINDINGS)
        self._matcher = Matcher(given.storage_for(resource_of(NAMESPACES)), given.types)
        self._params = Params(given)
        self._access = given.authorizer
        self._metrics = given.metrics.of(ConditionMetrics)
        self._clock = given.clock.patience
        self._merge = patches.Merger(given.types)

    async def mutate(self, attributes: Attributes) -> None:
        if is_beyond_policies(attributes) or attributes.obj is None:
            return
        hooks = await self._source.hooks()
        if not hooks:
            return
        work = _Round(self._write(attributes))
        invocations = [one async for one in self._invocations(hooks, work)]
        await self._invoke_all(invocations, work)
        if work.denials:
            raise _refusal(attributes, work.denials)

    def _write(self, attributes: Attributes) -> EvaluatedWrite:
        return EvaluatedWrite(attributes, self._matcher, self._access, self._metrics, self._clock)

    async def _invocations(
        self, hooks: Sequence[tuple[AdmissionPolicy, Sequence[PolicyBinding]]], work: _Round
    ) -> AsyncIterator[_Invocation]:
        attributes = work.write.attributes
        for policy, bindings in hooks:
            try:
                form = await self._matcher.match(attributes, policy.criteria)
                if form is None:
                    continue
                await self._params.check(policy.param_kind)
            except StatusError as exc:
                _note(work, policy, None, f"failed to configure policy: {exc.message}")
                continue
            except Misconfigured as exc:
                _note(work, policy, None, f"failed to configure policy: {exc}")
                continue
            for binding in bindings:
                try:
                    found = await self._bound(policy, binding, attributes)
                except (Misconfigured, StorageError) as exc:
                    _note(work, policy, binding, f"failed to configure binding: {exc}")
                    continue
                for params in found:
                    yield _Invocation(policy, binding, form, params)

    async def _bound(
        self, policy: AdmissionPolicy, binding: PolicyBinding, attributes: Attributes
    ) -> Sequence[Object | None]:
        if binding.criteria is not None and await self._matcher.match(attributes, binding.criteria) is None:
            return ()
        return await self._params.collect(policy.param_kind, binding.param_ref, attributes)

    async def _invoke_all(self, invocations: Sequence[_Invocation], work: _Round) -> None:
        """Invoke all policies in order. When the object has changed, invoke those again that want reinvocation.

        Match conditions are evaluated again, as in kube-apiserver. A condition can fail on a field that an earlier
        policy has removed.
        """
        last_change = -1
        for place, invocation in enumerate(invocations):
            if await self._holds(invocation, work) and await self._change(invocation, work):
                last_change = place
        if last_change < 0:
            return
        for place, invocation in enumerate(invocations):
            if await self._holds(invocation, work) and invocation.policy.is_reinvoked and place < last_change:
                await self._change(invocation, work)

    async def _holds(self, invocation: _Invocation, work: _Round) -> bool:
        """Whether the match conditions of a policy hold for the object as it is now."""
        current = await self._current(invocation, work)
        policy, write = invocation.policy, work.write
        seen = await write.inputs(policy, invocation.form, invocation.params, has_namespace=False, current=current)
        try:
            return await write.matches_conditions(policy, seen)
        except Undetermined as exc:
            _note(work, policy, invocation.binding, str(exc), "Invalid")
            return False

    async def _current(self, invocation: _Invocation, work: _Round) -> Object:
        obj = work.write.attributes.obj
        assert obj is not None
        return await invocation.form.versioned(obj)

    async def _change(self, invocation: _Invocation, work: _Round) -> bool:
        """Apply the mutations of a policy. Returns whether they have changed the object."""
        before = await self._current(invocation, work)
        after = await self._patched(invocation, before, work)
        if after == before:
            return False
        changed = await invocation.form.hub(objects.clone(after))
        obj = work.write.attributes.obj
        assert obj is not None
        obj.clear()
        obj.update(changed)
        work.write.attributes.note_step(RequestStep("policy", invocation.policy.name, "changed"))
        return True

    async def _patched(self, invocation: _Invocation, before: Object, work: _Round) -> Object:
        """The object with all mutations of a policy. A failing mutation changes nothing."""
        policy, form, current = invocation.policy, invocation.form, before
        for mutation in policy.mutations:
            seen = await work.write.inputs(policy, form, invocation.params, current=current)
            try:
                outcome = await work.write.answers.outcome(seen.evaluation(), mutation.expression)
                if outcome.failure:
                    raise Unpatchable(outcome.failure)
                patched = self._merge.patched(mutation.kind, form, current, outcome.value)
            except (OutOfBudget, Unpatchable) as exc:
                _note(work, policy, invocation.binding, str(exc), "Invalid")
                continue
            current = _read(form, patched)
        return current


def _read(form: AdmissionForm, patched: Object) -> Object:
    """The object that a mutation has made, with defaults. Raises InternalError."""
    try:
        return form.defaulted(form.parsed(patched))
    except DecodeError as exc:
        raise InternalError(exc.message) from exc


def _note(work: _Round, policy: AdmissionPolicy, binding: PolicyBinding | None, message: str, reason: str = "") -> None:
    if not policy.ignores_failures:
        work.write.attributes.note_step(RequestStep("policy", policy.name, "refused", detail=message))
        work.denials.append(_Denial(policy.name, binding.name if binding is not None else "", message, reason))


def _refusal(attributes: Attributes, denials: Sequence[_Denial]) -> Forbidden:
    """A Forbidden whose message and reason are those of the first denial."""
    failure = forbidden(attributes, "", causes=[Cause("", str(denial)) for denial in denials])
    failure.message = str(denials[0])
    failure.reason = denials[0].reason or failure.reason
    return failure
