"""Assembly: builds the clients for outgoing connections from the flags and files."""

from contextlib import AsyncExitStack

from msgspec import Struct

from aio_apiserver.apiserver.config.settings import Settings
from aio_apiserver.apiserver.metrics.outgoing import OutgoingMetrics
from aio_apiserver.apiserver.outgoing import webhook_credentials
from aio_apiserver.apiserver.outgoing.backends import Backends
from aio_apiserver.apiserver.outgoing.client import HTTPSClient
from aio_apiserver.apiserver.outgoing.documents import DocumentClient
from aio_apiserver.apiserver.outgoing.webhook_targets import ServiceAddress
from aio_apiserver.apiserver.outgoing.webhooks import WebhookClient
from aio_apiserver.base.clock import Clock
from aio_apiserver.registry.generic.config import Config


class Outgoing(Struct, frozen=True):
    """The clients for connections out of the process."""

    webhooks: WebhookClient
    documents: DocumentClient
    backends: Backends
    """For kubelets, pods and services."""


def open_outgoing(
    settings: Settings,
    config: Config,
    *,
    address_of: ServiceAddress,
    clock: Clock,
    metrics: OutgoingMetrics,
    stack: AsyncExitStack,
) -> Outgoing:
    """Build the clients. Nothing connects yet. Raises OSError, ValueError."""
    credentials = webhook_credentials.load(config.admission_configuration)
    webhooks = WebhookClient(address_of, clock.patience, credentials=credentials, metrics=metrics)
    documents = HTTPSClient(clock.patience)
    backends = Backends(settings)
    for opened in (webhooks, documents, backends):
        stack.push_async_callback(opened.close)
    return Outgoing(webhooks, DocumentClient(documents), backends)
