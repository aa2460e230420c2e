"""Plugins: the two plugins of admission policies, loaded on demand when the first binding exists."""

from aio_apiserver.registry.generic.admission.interface import Operation, Plugin
from aio_apiserver.registry.generic.resource import resource_of
from aio_apiserver.registry.generic.rest import Foundation
from aio_apiserver.registry.groups.admissionregistration.mutatingadmissionpolicybindings import (
    MUTATINGADMISSIONPOLICYBINDINGS,
)
from aio_apiserver.registry.groups.admissionregistration.validatingadmissionpolicybindings import (
    VALIDATINGADMISSIONPOLICYBINDINGS,
)
from aio_apiserver.registry.plugins.admission.on_demand import MutatingOnDemand, ValidatingOnDemand

_WRITTEN = frozenset({Operation.CREATE, Operation.UPDATE})


def validating(given: Foundation) -> Plugin:
    """The plugin ValidatingAdmissionPolicy."""

    def make() -> Plugin:
        from aio_apiserver.registry.plugins.admission.policies.validating import ValidatingAdmissionPolicy

        return ValidatingAdmissionPolicy(given)

    bindings = VALIDATINGADMISSIONPOLICYBINDINGS
    storage = given.storage_for(resource_of(bindings))
    return ValidatingOnDemand(
        "ValidatingAdmissionPolicy", frozenset(Operation), kind=bindings, storage=storage, make=make
    )


def mutating(given: Foundation) -> Plugin:
    """The plugin MutatingAdmissionPolicy."""

    def make() -> Plugin:
        from aio_apiserver.registry.plugins.admission.policies.mutating import MutatingAdmissionPolicy

        return MutatingAdmissionPolicy(given)

    bindings = MUTATINGADMISSIONPOLICYBINDINGS
    storage = given.storage_for(resource_of(bindings))
    return MutatingOnDemand("MutatingAdmissionPolicy", _WRITTEN, kind=bindings, storage=storage, make=make)
