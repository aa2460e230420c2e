"""Notes: what the record of a request says of the webhooks that were asked about it.

Must hold: what webhooks have made of an object is noted only where objects are recorded.
"""

import logging
from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.base.validation import names
from aio_apiserver.registry.generic.admission.interface import Attributes
from aio_apiserver.registry.generic.audit.levels import Level
from aio_apiserver.registry.plugins.admission.webhooks.configurations import Webhook

logger = logging.getLogger(__name__)

MUTATION, VALIDATION = "mutation.webhook.admission.k8s.io/", "validating.webhook.admission.k8s.io/"
_PATCH = "patch.webhook.admission.k8s.io/"


def place_of(attributes: Attributes, index: int) -> str:
    """The turn of a webhook."""
    return f"round_{int(attributes.reinvocation.is_again)}_index_{index}"


def note_own(attributes: Attributes, webhook: Webhook, annotations: Mapping[str, str]) -> None:
    """What a webhook itself wants to have noted."""
    for name, value in annotations.items():
        key = f"{webhook.name}/{name}"
        if "/" in name or names.check_qualified_name(key):
            logger.warning("Failed to set admission audit annotation %s for webhook %s", quote(key), webhook.name)
        else:
            attributes.annotate(key, value)


def note_mutation(attributes: Attributes, webhook: Webhook, place: str, *, is_changed: bool) -> None:
    """Whether a webhook has changed the object."""
    said = {"configuration": webhook.configuration, "webhook": webhook.name, "mutated": is_changed}
    attributes.annotate(f"{MUTATION}{place}", orjson.dumps(said).decode())


def note_patch(attributes: Attributes, webhook: Webhook, place: str, operations: Sequence[Any]) -> None:
    """How a webhook has changed the object."""
    said = {
        "configuration": webhook.configuration,
        "webhook": webhook.name,
        "patch": [dict(sorted((one or {}).items())) for one in operations],
        "patchType": "JSONPatch",
    }
    attributes.annotate(f"{_PATCH}{place}", orjson.dumps(said).decode(), Level.REQUEST)


def note_failure(attributes: Attributes, webhook: Webhook, place: str, step: str) -> None:
    """A webhook was left out, because its failures are ignored."""
    attributes.annotate(f"failed-open.{step}{place}", webhook.name)
