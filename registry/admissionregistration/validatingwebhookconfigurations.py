"""Validating webhook configurations: programs elsewhere that may refuse what is written."""

from aio_apiserver.registry.admissionregistration.webhooks import WebhookConfigurationStrategy
from aio_apiserver.registry.generic.kind import Kind

VALIDATINGWEBHOOKCONFIGURATIONS = Kind(
    group="admissionregistration.k8s.io",
    plural="validatingwebhookconfigurations",
    kind="ValidatingWebhookConfiguration",
    is_namespaced=False,
    categories=("api-extensions",),
    strategy=WebhookConfigurationStrategy(has_generation=True, counts_empties=True, allows_unconditional_update=False),
)
