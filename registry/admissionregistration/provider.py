"""The admissionregistration.k8s.io group: its kinds."""

from registry.generic.provider import KindsProvider
from registry.kind import Kind
from registry.strategy import StatusStrategy, Strategy

GROUP = "admissionregistration.k8s.io"

KINDS = (
    Kind(
        group=GROUP,
        plural="mutatingadmissionpolicies",
        kind="MutatingAdmissionPolicy",
        is_namespaced=False,
        categories=("api-extensions",),
        strategy=Strategy(has_generation=True, allows_unconditional_update=False),
    ),
    Kind(
        group=GROUP,
        plural="mutatingadmissionpolicybindings",
        kind="MutatingAdmissionPolicyBinding",
        is_namespaced=False,
        categories=("api-extensions",),
        strategy=Strategy(has_generation=True, allows_unconditional_update=False),
    ),
    Kind(
        group=GROUP,
        plural="mutatingwebhookconfigurations",
        kind="MutatingWebhookConfiguration",
        is_namespaced=False,
        categories=("api-extensions",),
        strategy=Strategy(has_generation=True, allows_unconditional_update=False),
    ),
    Kind(
        group=GROUP,
        plural="validatingadmissionpolicies",
        kind="ValidatingAdmissionPolicy",
        is_namespaced=False,
        categories=("api-extensions",),
        strategy=Strategy(has_status=True, has_generation=True, allows_unconditional_update=False),
        status_strategy=StatusStrategy(allows_unconditional_update=False),
    ),
    Kind(
        group=GROUP,
        plural="validatingadmissionpolicybindings",
        kind="ValidatingAdmissionPolicyBinding",
        is_namespaced=False,
        categories=("api-extensions",),
        strategy=Strategy(has_generation=True, allows_unconditional_update=False),
    ),
    Kind(
        group=GROUP,
        plural="validatingwebhookconfigurations",
        kind="ValidatingWebhookConfiguration",
        is_namespaced=False,
        categories=("api-extensions",),
        strategy=Strategy(has_generation=True, allows_unconditional_update=False),
    ),
)

PROVIDER = KindsProvider(group=GROUP, kinds=KINDS)
