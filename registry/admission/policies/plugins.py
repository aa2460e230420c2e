"""The two plugins of admission policies, as the chain has them: loaded when a policy is bound."""

from registry.admission.interface import Operation, Plugin
from registry.admission.on_demand import OnDemand
from registry.admissionregistration.mutatingadmissionpolicybindings import MUTATINGADMISSIONPOLICYBINDINGS
from registry.admissionregistration.validatingadmissionpolicybindings import VALIDATINGADMISSIONPOLICYBINDINGS
from registry.generic.provider import resource_of
from registry.rest import Foundation

_WRITTEN = frozenset({Operation.CREATE, Operation.UPDATE})


def validating(given: Foundation) -> Plugin:
    """ValidatingAdmissionPolicy."""

    def make() -> Plugin:
        from registry.admission.policies.validating import ValidatingAdmissionPolicy

        return ValidatingAdmissionPolicy(given)

    bindings = VALIDATINGADMISSIONPOLICYBINDINGS
    storage = given.storage_for(resource_of(bindings))
    return OnDemand("ValidatingAdmissionPolicy", frozenset(Operation), kind=bindings, storage=storage, make=make)


def mutating(given: Foundation) -> Plugin:
    """MutatingAdmissionPolicy."""

    def make() -> Plugin:
        from registry.admission.policies.mutating import MutatingAdmissionPolicy

        return MutatingAdmissionPolicy(given)

    bindings = MUTATINGADMISSIONPOLICYBINDINGS
    storage = given.storage_for(resource_of(bindings))
    return OnDemand("MutatingAdmissionPolicy", _WRITTEN, kind=bindings, storage=storage, make=make)
