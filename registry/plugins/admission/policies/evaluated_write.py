"""Evaluated write: the inputs that admission policies need for one write, computed when the first policy matches."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from aio_apiserver.base.clock import Clock
from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.names import GroupKind
from aio_apiserver.registry.generic.access.authorizer import Authorizer as Access
from aio_apiserver.registry.generic.admission.form import AdmissionForm
from aio_apiserver.registry.generic.admission.interface import Attributes
from aio_apiserver.registry.plugins.admission import admission_requests
from aio_apiserver.registry.plugins.admission.condition_metrics import ConditionMetrics, ConditionRecorder
from aio_apiserver.registry.plugins.admission.matching import Matcher
from aio_apiserver.registry.plugins.admission.policies.compiled import AdmissionPolicy
from aio_apiserver.registry.plugins.admission.policies.evaluation import Decisions, Inputs, inputs
from aio_apiserver.registry.plugins.admission.policies.match_conditions import hold

_NAMESPACE = GroupKind("", "Namespace")
_STEP = "validate"
"""The `type` label of match conditions in the metrics, also for mutating policies."""


@dataclass(slots=True)
class EvaluatedWrite:
    """One write, shared by all policies that look at it."""

    attributes: Attributes
    matcher: Matcher
    access: Access
    metrics: ConditionMetrics
    clock: Clock
    _shown: dict[tuple[str, str], tuple[Object | None, Object | None]] = field(default_factory=dict)
    _namespaces: list[Object | None] = field(default_factory=list)
    answers: Decisions = field(init=False)

    def __post_init__(self) -> None:
        self.answers = Decisions(self.access, self.attributes.user.name)

    async def inputs(
        self,
        policy: AdmissionPolicy,
        form: AdmissionForm,
        params: Object | None,
        *,
        has_namespace: bool = True,
        current: Object | None = None,
    ) -> Inputs:
        """The inputs for the expressions of a policy. `current`: the object after earlier policies, in this form.

        Raises StatusError, StorageError.
        """
        obj, old = await self._objects(form)
        return inputs(
            obj=obj if current is None else current,
            old=old,
            request=admission_requests.request(self.attributes, self.matcher.forms(self.attributes)[0], form),
            namespace=await self._namespace() if has_namespace else None,
            params=params,
            access=self.answers.variables(self.attributes),
            variables=policy.variables,
        )

    async def matches_conditions(self, policy: AdmissionPolicy, seen: Inputs) -> bool:
        """Whether all match conditions of a policy hold. Raises Undetermined."""
        conditions = [expression for _, expression in policy.conditions]
        recorder = ConditionRecorder(self.metrics, self.clock, policy.name, "policy", _STEP, self.attributes.operation)
        ignores_failures = policy.ignores_failures
        return await hold(conditions, seen, self.answers, ignores_failures=ignores_failures, recorder=recorder)

    async def _objects(self, form: AdmissionForm) -> tuple[Object | None, Object | None]:
        key = (str(form.resource), form.version)
        if key not in self._shown:
            attributes = self.attributes
            old = await form.versioned(attributes.old) if attributes.old is not None else None
            obj = await form.versioned(attributes.obj) if attributes.obj is not None else None
            self._shown[key] = (obj, old)
        return self._shown[key]

    async def _namespace(self) -> Object | None:
        """`namespaceObject`: the namespace of the write. None for a Namespace and for cluster-scoped objects."""
        if not self._namespaces:
            self._namespaces.append(await self._found_namespace())
        return self._namespaces[0]

    async def _found_namespace(self) -> Object | None:
        attributes = self.attributes
        is_namespace = GroupKind(attributes.kind.group, attributes.kind.kind) == _NAMESPACE
        if not attributes.namespace or is_namespace:
            return None
        found = await self.matcher.namespace(attributes.namespace)
        return {**found, "metadata": _visible(found["metadata"])}


_HIDDEN = frozenset({"managedFields", "ownerReferences", "selfLink"})


def _visible(metadata: Mapping[str, Any]) -> Object:
    return {name: value for name, value in metadata.items() if name not in _HIDDEN}
