"""Webhook files: a webhook that a kubeconfig file describes: its cluster is the webhook, its user this server.

    clusters:
      - {name: images, cluster: {server: https://images.example/review, certificate-authority: ca.pem}}
    users:
      - {name: us, user: {client-certificate: us.pem, client-key: us-key.pem}}
    contexts:
      - {name: both, context: {cluster: images, user: us}}
    current-context: both

The kubeconfig is read once. As in kube-apiserver, a user may be without credentials, and a server of plain HTTP is
accepted. An audit sink on the same machine has no certificate. Must hold: certificate files that it names are
reloaded while the server runs. When they cannot be read, the earlier certificates stay.
"""

import logging
import ssl
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson
from aiohttp import hdrs
from msgspec import Struct
from msgspec.structs import replace

from aio_apiserver.apiserver.outgoing import webhook_credentials
from aio_apiserver.apiserver.outgoing.client import HTTPSRequest
from aio_apiserver.apiserver.outgoing.webhook_credentials import Credential
from aio_apiserver.apiserver.tls import bundles
from aio_apiserver.base.clock import Clock
from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.golang import durations
from aio_apiserver.registry.generic.webhook_calls import WebhookFailed
from aio_apiserver.storage.encryption import strict_yaml

logger = logging.getLogger(__name__)

_HEADERS: Mapping[str, str] = {hdrs.CONTENT_TYPE: "application/json", hdrs.ACCEPT: "application/json, */*"}
_TIMEOUT_SECONDS = 30.0
_RENEWAL_SECONDS = 300.0


class FileWebhook(Struct, frozen=True):
    """The address of a webhook, with its TLS and credentials."""

    url: str
    trust: "WebhookTrust"
    credential: Credential
    timeout: float = _TIMEOUT_SECONDS

    def within(self, seconds: float) -> "FileWebhook":
        """The same with another time limit."""
        return replace(self, timeout=seconds)

    def request(self, document: Object) -> HTTPSRequest:
        """The request for a document. Raises WebhookFailed when the token file cannot be read."""
        try:
            shown = self.credential.headers()
        except OSError as exc:
            raise WebhookFailed(f"the token for {self.url} cannot be read: {exc.strerror}") from exc
        url = f"{self.url}{'&' if '?' in self.url else '?'}timeout={durations.show(self.timeout)}"
        return HTTPSRequest(url, self.trust.context(), orjson.dumps(document), {**_HEADERS, **shown})


class _Certificates(Struct, frozen=True):
    """The certificate authority of the webhook and the client certificate, in PEM."""

    authority: str
    shown: str


class WebhookTrust:
    """The TLS context for a webhook, made again when one of its files changes."""

    def __init__(self, cluster: Mapping[str, Any], user: Mapping[str, Any], directory: Path, clock: Clock) -> None:
        self._cluster = cluster
        self._user = user
        self._directory = directory
        self._clock = clock
        self._certificates = self._read()
        self._context = self._tls_context(self._certificates)
        self._read_at = clock.monotonic()

    def context(self) -> ssl.SSLContext:
        """The present context."""
        now = self._clock.monotonic()
        if now - self._read_at >= _RENEWAL_SECONDS:
            self._read_at = now
            self._renew()
        return self._context

    def _renew(self) -> None:
        try:
            certificates = self._read()
            if certificates != self._certificates:
                self._context = self._tls_context(certificates)
                self._certificates = certificates
        except (OSError, ValueError) as exc:
            logger.error("cannot reload the certificates for %s: %s", self._cluster.get("server"), exc)

    def _read(self) -> _Certificates:
        authority = webhook_credentials.data_of(self._cluster, "certificate-authority", self._directory)
        return _Certificates(authority, webhook_credentials.credential_of(self._user, self._directory).certificate)

    def _tls_context(self, certificates: _Certificates) -> ssl.SSLContext:
        tls = bundles.trusting(certificates.authority)
        if self._cluster.get("insecure-skip-tls-verify"):
            tls.check_hostname = False
            tls.verify_mode = ssl.CERT_NONE
        if certificates.shown:
            bundles.show(certificates.shown, tls)
        return tls


def read(path: Path, clock: Clock) -> FileWebhook:
    """The webhook of a kubeconfig file. Raises OSError, ValueError."""
    try:
        config = strict_yaml.load(path.read_bytes())
        context = _named(config, "contexts", "context", config.get("current-context") or "")
        cluster = _named(config, "clusters", "cluster", context.get("cluster", ""))
        user = _named(config, "users", "user", context.get("user", "")) if context.get("user") else {}
        trust = WebhookTrust(cluster, user, path.parent, clock)
        return FileWebhook(_server(cluster), trust, webhook_credentials.credential_of(user, path.parent))
    except (AttributeError, KeyError, TypeError, ValueError, ssl.SSLError) as exc:
        raise ValueError(f"{path}: not a kubeconfig file of a webhook: {exc}") from exc


def _named(config: Any, plural: str, singular: str, name: str) -> dict[str, Any]:
    """A kubeconfig entry by name. An empty name means that there is exactly one."""
    entries = config.get(plural) or []
    found = [entry.get(singular) or {} for entry in entries if not name or entry.get("name") == name]
    if len(found) != 1 or not isinstance(found[0], dict):
        raise ValueError(f"it must have one {singular} named {name!r}")
    return found[0]


def _server(cluster: dict[str, Any]) -> str:
    server = str(cluster.get("server", ""))
    if not server.startswith(("https://", "http://")):
        raise ValueError("the server of its cluster must be an https or http URL")
    return server
