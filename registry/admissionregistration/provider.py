"""The admissionregistration.k8s.io group: its kinds."""

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

PROVIDER = KindsProvider(group=GROUP, kinds=KINDS)
