"""Provider: the kinds of the group admissionregistration.k8s.io."""

from aio_apiserver.registry.generic.group import APIGroup
from aio_apiserver.registry.generic.store.provider import KindsProvider
from aio_apiserver.registry.groups.admissionregistration import param_rights
from aio_apiserver.registry.groups.admissionregistration.mutatingadmissionpolicies import MUTATINGADMISSIONPOLICIES
from aio_apiserver.registry.groups.admissionregistration.mutatingadmissionpolicybindings import (
    MUTATINGADMISSIONPOLICYBINDINGS,
)
from aio_apiserver.registry.groups.admissionregistration.mutatingwebhookconfigurations import (
    MUTATINGWEBHOOKCONFIGURATIONS,
)
from aio_apiserver.registry.groups.admissionregistration.validatingadmissionpolicies import VALIDATINGADMISSIONPOLICIES
from aio_apiserver.registry.groups.admissionregistration.validatingadmissionpolicybindings import (
    VALIDATINGADMISSIONPOLICYBINDINGS,
)
from aio_apiserver.registry.groups.admissionregistration.validatingwebhookconfigurations import (
    VALIDATINGWEBHOOKCONFIGURATIONS,
)

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

PROVIDER = KindsProvider(
    group=APIGroup(name=GROUP, priority=16700, versions={"v1": 15, "v1beta1": 12}), kinds=KINDS, hooks=HOOKS
)
