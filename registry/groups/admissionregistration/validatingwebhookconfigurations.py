"""ValidatingWebhookConfigurations: admission webhooks that may refuse requests."""

from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.groups.admissionregistration import columns
from aio_apiserver.registry.groups.admissionregistration.webhooks import WebhookConfigurationStrategy

VALIDATINGWEBHOOKCONFIGURATIONS = Kind(
    group="admissionregistration.k8s.io",
    plural="validatingwebhookconfigurations",
    kind="ValidatingWebhookConfiguration",
    is_namespaced=False,
    categories=("api-extensions",),
    strategy=WebhookConfigurationStrategy(has_generation=True, counts_empties=True, allows_unconditional_update=False),
    columns=columns.WEBHOOK_CONFIGURATIONS,
)
