"""MutatingWebhookConfigurations: admission webhooks that may change objects."""

from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.groups.admissionregistration import columns
from aio_apiserver.registry.groups.admissionregistration.webhooks import WebhookConfigurationStrategy

MUTATINGWEBHOOKCONFIGURATIONS = Kind(
    group="admissionregistration.k8s.io",
    plural="mutatingwebhookconfigurations",
    kind="MutatingWebhookConfiguration",
    is_namespaced=False,
    categories=("api-extensions",),
    strategy=WebhookConfigurationStrategy(
        mutates=True, has_generation=True, counts_empties=True, allows_unconditional_update=False
    ),
    columns=columns.WEBHOOK_CONFIGURATIONS,
)
