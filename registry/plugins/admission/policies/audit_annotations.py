"""Audit annotations: those of validating policies. Pure.

Must hold: the values that several bindings of a policy have for one key are published together, each value once.
"""

import orjson
from msgspec import Struct, field

from aio_apiserver.registry.base.validation.field import escaped
from aio_apiserver.registry.generic.audit.annotations import Annotate
from aio_apiserver.registry.plugins.admission.policies.compiled import PolicyBinding

_LONGEST = 10 * 1024
_FAILURE = "validation.policy.admission.k8s.io/validation_failure"


class AuditAnnotations(Struct, frozen=True):
    """The audit annotations of one policy, from all of its bindings."""

    _values: dict[str, list[str]] = field(default_factory=dict)

    def add(self, key: str, value: str) -> None:
        """Add a value of an audit annotation."""
        value = value.encode()[:_LONGEST].decode(errors="ignore")
        known = self._values.setdefault(key, [])
        if value not in known:
            known.append(value)

    def publish(self, policy: str, annotate: Annotate) -> None:
        """Write all values into the audit event."""
        for key, values in self._values.items():
            annotate(f"{policy}/{key}", ", ".join(values))


def note_failure(annotate: Annotate, binding: PolicyBinding, index: int, message: str) -> None:
    """Add the audit annotation for a failed validation. The first one of a request is kept, as in kube-apiserver."""
    failure = {
        "message": message,
        "policy": binding.policy,
        "binding": binding.name,
        "expressionIndex": index,
        "validationActions": list(binding.actions),
    }
    annotate(_FAILURE, escaped(orjson.dumps([failure]).decode()))
