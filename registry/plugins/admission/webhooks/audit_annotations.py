"""Audit annotations: those about the webhooks of a request.

Must hold: patches are recorded from the audit level Request on.
"""

import logging
from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.base.validation import names
from aio_apiserver.registry.generic.admission.interface import Attributes
from aio_apiserver.registry.generic.audit.levels import Level
from aio_apiserver.registry.plugins.admission.webhooks.configurations import AdmissionWebhook

logger = logging.getLogger(__name__)

MUTATION, VALIDATION = "mutation.webhook.admission.k8s.io/", "validating.webhook.admission.k8s.io/"
_PATCH = "patch.webhook.admission.k8s.io/"


def place_of(attributes: Attributes, index: int) -> str:
    """The round and index of a webhook, as audit annotations name them."""
    return f"round_{int(attributes.reinvocation.is_again)}_index_{index}"


def note_own(attributes: Attributes, webhook: AdmissionWebhook, annotations: Mapping[str, str]) -> None:
    """Add the audit annotations that a webhook returned."""
    for name, value in annotations.items():
        key = f"{webhook.name}/{name}"
        if "/" in name or names.check_qualified_name(key):
            logger.warning("Failed to set admission audit annotation %s for webhook %s", quote(key), webhook.name)
        else:
            attributes.annotate(key, value)


def note_mutation(attributes: Attributes, webhook: AdmissionWebhook, place: str, *, is_changed: bool) -> None:
    """Record whether a webhook has changed the object."""
    annotation = {"configuration": webhook.configuration, "webhook": webhook.name, "mutated": is_changed}
    attributes.annotate(f"{MUTATION}{place}", orjson.dumps(annotation).decode())


def note_patch(attributes: Attributes, webhook: AdmissionWebhook, place: str, operations: Sequence[Any]) -> None:
    """Record the patch of a webhook."""
    annotation = {
        "configuration": webhook.configuration,
        "webhook": webhook.name,
        "patch": [dict(sorted((one or {}).items())) for one in operations],
        "patchType": "JSONPatch",
    }
    attributes.annotate(f"{_PATCH}{place}", orjson.dumps(annotation).decode(), Level.REQUEST)


def note_failure(attributes: Attributes, webhook: AdmissionWebhook, place: str, step: str) -> None:
    """Record that a failing webhook was ignored."""
    attributes.annotate(f"failed-open.{step}{place}", webhook.name)
