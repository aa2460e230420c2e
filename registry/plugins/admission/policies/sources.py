"""Sources: the policies of one kind with their bindings, from cached lookups."""

from collections.abc import Sequence

from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.lookups import Lookup
from aio_apiserver.registry.generic.resource import resource_of
from aio_apiserver.registry.generic.rest import ReaderFor
from aio_apiserver.registry.plugins.admission.policies import compiled
from aio_apiserver.registry.plugins.admission.policies.compiled import AdmissionPolicy, PolicyBinding

_LONG = 2048
"""Bytes of a policy: to compile a kilobyte of expressions takes some milliseconds."""
Hook = tuple[AdmissionPolicy, Sequence[PolicyBinding]]


class Source:
    """Policies by name, each with its bindings. A policy without a binding is left out.

    Each object is read, and its expressions compiled, once a revision.
    """

    def __init__(self, storage_for: ReaderFor, policies: Kind, bindings: Kind) -> None:
        self._policies = Lookup(storage_for(resource_of(policies)), policies.resource, compiled.policy, long_from=_LONG)
        self._bindings = Lookup(storage_for(resource_of(bindings)), bindings.resource, compiled.binding)

    async def hooks(self) -> Sequence[Hook]:
        """Policies in the order of their names. Raises StatusError."""
        bindings: dict[str, list[PolicyBinding]] = {}
        for binding in await self._bindings.list():
            bindings.setdefault(binding.policy, []).append(binding)
        if not bindings:
            return ()
        policies = await self._policies.list()
        return [(policy, bindings[policy.name]) for policy in policies if policy.name in bindings]
