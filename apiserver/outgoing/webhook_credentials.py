"""Webhook credentials: the credentials for admission webhooks, from the kubeconfig of the two webhook plugins.

    apiVersion: apiserver.config.k8s.io/v1
    kind: WebhookAdmissionConfiguration
    kubeConfigFile: /etc/kubernetes/webhooks.kubeconfig

A user of the kubeconfig is named by the host of the webhook: `host:port`, `*.example.com` (without a port for 443), or
`*` for all others. Must hold: a webhook gets just the credentials for its host.
"""

import base64
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from aiohttp import hdrs
from msgspec import Struct, field

from aio_apiserver.storage.encryption import strict_yaml

PLUGINS = ("MutatingAdmissionWebhook", "ValidatingAdmissionWebhook")

_KINDS = frozenset(
    {
        ("apiserver.config.k8s.io/v1", "WebhookAdmissionConfiguration"),
        ("apiserver.config.k8s.io/v1alpha1", "WebhookAdmission"),
    }
)
_FIELDS = frozenset({"apiVersion", "kind", "kubeConfigFile"})
_HTTPS = 443


class Credential(Struct, frozen=True):
    """The credentials for a webhook. `certificate` is followed by its key, in PEM."""

    token: str = ""
    token_file: Path | None = None
    user: str = ""
    password: str = ""
    certificate: str = ""

    def headers(self) -> Mapping[str, str]:
        """The Authorization header. A token file is read for each request. Raises OSError."""
        token = self.token
        if self.token_file is not None and not token:
            token = self.token_file.read_text().strip()
        if token:
            return {hdrs.AUTHORIZATION: f"Bearer {token}"}
        if self.user or self.password:
            both = base64.b64encode(f"{self.user}:{self.password}".encode()).decode()
            return {hdrs.AUTHORIZATION: f"Basic {both}"}
        return {}


ANONYMOUS = Credential()


class WebhookCredentials(Struct, frozen=True):
    """The credentials of one plugin, by host; `default` is for hosts without an entry."""

    users: Mapping[str, Credential] = field(default_factory=dict)
    default: Credential = ANONYMOUS

    def of(self, host: str, port: int) -> Credential:
        """The credential for a host and port: the most specific name wins."""
        names = [*_names(f"{host}:{port}"), *(_names(host) if port == _HTTPS else ()), "*"]
        return next((self.users[name] for name in names if name in self.users), self.default)


def _names(place: str) -> Iterator[str]:
    yield place
    steps = place.split(".")
    for index in range(1, len(steps)):
        yield f"*.{'.'.join(steps[index:])}"


def load(configurations: Mapping[str, Any]) -> Mapping[str, WebhookCredentials]:
    """The credentials by plugin, from the admission configuration. Raises ValueError, OSError."""
    return {name: _of_plugin(name, configurations[name]) for name in PLUGINS if configurations.get(name) is not None}


def _of_plugin(name: str, configuration: Any) -> WebhookCredentials:
    if not isinstance(configuration, dict):
        raise ValueError(f"{name}: the configuration must be a map")
    if (configuration.get("apiVersion"), configuration.get("kind")) not in _KINDS:
        raise ValueError(f"{name}: the configuration must be a WebhookAdmissionConfiguration")
    if unknown := sorted(str(one) for one in configuration if one not in _FIELDS):
        raise ValueError(f"{name}: unknown field {unknown[0]!r}")
    path = Path(configuration.get("kubeConfigFile") or "")
    if path == Path():
        return WebhookCredentials()
    if not path.is_absolute():
        raise ValueError(f"{name}: kubeConfigFile: Invalid value: {str(path)!r}: must be an absolute file path")
    return _of_file(path)


def _of_file(path: Path) -> WebhookCredentials:
    try:
        config = strict_yaml.load(path.read_bytes())
        users = {one["name"]: credential_of(one.get("user") or {}, path.parent) for one in config.get("users") or ()}
        contexts = {one["name"]: one.get("context") or {} for one in config.get("contexts") or ()}
        current = contexts.get(config.get("current-context") or "") or {}
    except (AttributeError, KeyError, TypeError) as exc:
        raise ValueError(f"{path}: not a kubeconfig file: {exc}") from exc
    return WebhookCredentials(users, users.get(current.get("user") or "", ANONYMOUS))


def credential_of(user: Mapping[str, Any], directory: Path) -> Credential:
    """The credential of a kubeconfig user; `directory` is the base of relative paths. Raises OSError, ValueError."""
    token_file = user.get("tokenFile")
    certificate = data_of(user, "client-certificate", directory)
    return Credential(
        token=user.get("token") or "",
        token_file=directory / token_file if token_file else None,
        user=user.get("username") or "",
        password=user.get("password") or "",
        certificate=f"{certificate}\n{data_of(user, 'client-key', directory)}" if certificate else "",
    )


def data_of(entry: Mapping[str, Any], name: str, directory: Path) -> str:
    """A value of a kubeconfig entry: inline, or from the file that it names."""
    if inline := entry.get(f"{name}-data"):
        return base64.b64decode(inline).decode()
    return (directory / entry[name]).read_text() if entry.get(name) else ""
