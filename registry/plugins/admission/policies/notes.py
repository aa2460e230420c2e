"""Notes: what policies want to have in the audit's record of a write. Pure.

Must hold: what several bindings of a policy say by one key is noted together, each value once.
"""

import orjson
from msgspec import Struct, field

from aio_apiserver.registry.base.validation.field import escaped
from aio_apiserver.registry.generic.audit.annotations import Annotate
from aio_apiserver.registry.plugins.admission.policies.compiled import Binding

_LONGEST = 10 * 1024
_FAILURE = "validation.policy.admission.k8s.io/validation_failure"


class Notes(Struct, frozen=True):
    """Of one policy, from all of its bindings."""

    _values: dict[str, list[str]] = field(default_factory=dict)

    def add(self, key: str, value: str) -> None:
        """Note what an audit annotation has turned out to be."""
        value = value.encode()[:_LONGEST].decode(errors="ignore")
        known = self._values.setdefault(key, [])
        if value not in known:
            known.append(value)

    def publish(self, policy: str, annotate: Annotate) -> None:
        """Put all of it into the record."""
        for key, values in self._values.items():
            annotate(f"{policy}/{key}", ", ".join(values))


def note_failure(annotate: Annotate, binding: Binding, index: int, message: str) -> None:
    """Note that a validation does not hold. Of several only the first is in the record, as with kube-apiserver."""
    failure = {
        "message": message,
        "policy": binding.policy,
        "binding": binding.name,
        "expressionIndex": index,
        "validationActions": list(binding.actions),
    }
    annotate(_FAILURE, escaped(orjson.dumps([failure]).decode()))
