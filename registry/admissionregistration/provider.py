"""The admissionregistration.k8s.io group: its kinds."""

from registry.admissionregistration import param_rights
from registry.admissionregistration.mutatingadmissionpolicies import MUTATINGADMISSIONPOLICIES
from registry.admissionregistration.mutatingadmissionpolicybindings import MUTATINGADMISSIONPOLICYBINDINGS
from registry.admissionregistration.mutatingwebhookconfigurations import MUTATINGWEBHOOKCONFIGURATIONS
from registry.admissionregistration.validatingadmissionpolicies import VALIDATINGADMISSIONPOLICIES
from registry.admissionregistration.validatingadmissionpolicybindings import VALIDATINGADMISSIONPOLICYBINDINGS
from registry.admissionregistration.validatingwebhookconfigurations import VALIDATINGWEBHOOKCONFIGURATIONS
from registry.generic.provider import KindsProvider

GROUP = "admissionregistration.k8s.io"

KINDS = (
    MUTATINGADMISSIONPOLICIES,
    MUTATINGADMISSIONPOLICYBINDINGS,
    MUTATINGWEBHOOKCONFIGURATIONS,
    VALIDATINGADMISSIONPOLICIES,
    VALIDATINGADMISSIONPOLICYBINDINGS,
    VALIDATINGWEBHOOKCONFIGURATIONS,
)

HOOKS = {
    MUTATINGADMISSIONPOLICIES.plural: param_rights.policy_hooks,
    MUTATINGADMISSIONPOLICYBINDINGS.plural: param_rights.mutating_binding_hooks,
    VALIDATINGADMISSIONPOLICIES.plural: param_rights.policy_hooks,
    VALIDATINGADMISSIONPOLICYBINDINGS.plural: param_rights.validating_binding_hooks,
}

PROVIDER = KindsProvider(group=GROUP, kinds=KINDS, hooks=HOOKS)
