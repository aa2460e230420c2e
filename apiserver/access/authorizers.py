"""Authorizers: builds the authorizers of the flags and of AuthorizationConfiguration.

Must hold: an error in a file ends the start, with the file's name in the message. After the start it is logged and
changes nothing. A reload cannot add an authorizer with background work.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from aio_apiserver.apiserver.config.settings import Settings
from aio_apiserver.apiserver.metrics.metric_families import Measures
from aio_apiserver.apiserver.metrics.reloads import ConfigurationMetrics
from aio_apiserver.apiserver.outgoing.assembly import Outgoing
from aio_apiserver.apiserver.outgoing.webhook_files import FileWebhook
from aio_apiserver.apiserver.tls import reloading
from aio_apiserver.apiserver.tls.reloading import Contents, Reloaded
from aio_apiserver.base.clock import Clock
from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.deferred import Deferred
from aio_apiserver.registry.generic.access.authorizer import Authorizer, AuthorizerChain, Verdict
from aio_apiserver.registry.generic.rest import ReaderFor
from aio_apiserver.registry.plugins.authorization import modes
from aio_apiserver.registry.plugins.authorization.authorization_metrics import AuthorizationMetrics
from aio_apiserver.registry.plugins.authorization.modes import Modes, Run
from aio_apiserver.registry.plugins.authorization.review_webhooks import RemoteAuthorizer, RemoteSettings

if TYPE_CHECKING:
    from aio_apiserver.registry.plugins.authorization import abac
else:
    abac = Deferred("aio_apiserver.registry.plugins.authorization.abac")

if TYPE_CHECKING:  # a file that most servers do not have: its models and expressions take a while to import
    from aio_apiserver.apiserver.access.authorization_config import AuthorizationConfiguration, WebhookConfiguration

_ALWAYS = frozenset({"AlwaysAllow", "AlwaysDeny"})
"""Modes without background work, which a reload may add."""


_DEFAULT_WEBHOOK = "default"
"""The name of the webhook that the flags describe."""

Applies = Callable[[Object], bool]
"""Whether match conditions select a webhook for a SubjectAccessReview."""


def _always(_spec: Object) -> bool:
    """The function for webhooks without match conditions."""
    return True


class Authorizers:
    """The authorizers of one server. Raises OSError or ValueError."""

    def __init__(
        self, settings: Settings, storage_for: ReaderFor, clock: Clock, *, out: Outgoing, metrics: AuthorizationMetrics
    ) -> None:
        self._settings = settings
        self._storage_for = storage_for
        self._clock = clock
        self._out = out
        self._metrics = metrics
        self._config = _config_of(settings)
        self._own: dict[str, Modes] = {}
        first = list(self._first())
        self._chain = AuthorizerChain(modes.in_order(first, metrics, settings.minor.version))

    @property
    def authorizer(self) -> Authorizer:
        return self._chain

    @property
    def runs(self) -> Sequence[Run]:
        """The background work of the authorizers."""
        return [run for mode in self._own.values() for run in mode.runs]

    async def settle(self) -> None:
        """Return when they have seen all objects that are stored now. Raises StorageError."""
        for mode in self._own.values():
            await mode.settle()

    def reloaded(self, measures: Measures) -> Iterator[Reloaded]:
        """The files that are reloaded."""
        path = self._settings.authorization_config
        if path is None:
            return
        metrics = ConfigurationMetrics("authorization", self._clock)
        measures.ask(metrics.families)
        contents = reloading.read([path])
        metrics.in_force(contents[0])

        def tell(contents: Contents | None) -> None:
            metrics.reloaded(contents[0] if contents is not None else None)

        yield Reloaded("authorization configuration", [path], self._take_over, contents, tell)

    async def _take_over(self, contents: Contents) -> None:
        """Replace the chain of authorizers. Raises OSError, ValueError."""
        from aio_apiserver.apiserver.access import authorization_config

        path = self._settings.authorization_config
        assert path is not None
        config = authorization_config.parse(contents[0], path)
        if config != self._config:
            links = modes.in_order(list(self._of_file(config)), self._metrics, self._settings.minor.version)
            self._chain.replace(links)
            self._config = config

    def _first(self) -> Iterator[Modes]:
        if self._config is None:
            for name in self._settings.authorization_mode:
                yield self._webhook_of_flags() if name == "Webhook" else self._begun(name)
            return
        for entry in self._config.authorizers:
            if entry.webhook is None:
                yield self._begun(entry.type, entry.name)
            else:
                yield self._webhook(entry.name, entry.webhook)

    def _of_file(self, config: "AuthorizationConfiguration") -> Iterator[Modes]:
        for entry in config.authorizers:
            if entry.webhook is not None:
                yield self._webhook(entry.name, entry.webhook)
            elif entry.type in _ALWAYS:
                yield modes.own(entry.type, self._storage_for, entry.name)
            elif entry.type in self._own:
                yield replace(self._own[entry.type], name=entry.name)
            else:
                raise ValueError(
                    f"authorizer type {entry.type} is not allowed if it was not enabled at initial server startup"
                )

    def _begun(self, mode: str, name: str = "") -> Modes:
        """A mode of the start."""
        begun = self._abac(name) if mode == "ABAC" else modes.own(mode, self._storage_for, name)
        self._own[mode] = begun
        return begun

    def _abac(self, name: str) -> Modes:
        path = self._settings.authorization_policy_file
        if path is None:
            raise ValueError("--authorization-policy-file must be specified with the mode ABAC")
        return Modes("ABAC", name or "abac", abac.ABAC(abac.parse(path.read_text(), str(path))))

    def _webhook_of_flags(self) -> Modes:
        settings = self._settings
        remote = RemoteSettings(
            version=settings.authorization_webhook_version,
            allowed_seconds=settings.authorization_webhook_cache_authorized_ttl,
            denied_seconds=settings.authorization_webhook_cache_unauthorized_ttl,
        )
        if settings.authorization_webhook_config_file is None:
            raise ValueError("--authorization-webhook-config-file must be specified with the mode Webhook")
        webhook = self._out.webhooks.read(settings.authorization_webhook_config_file)
        return self._remote(_DEFAULT_WEBHOOK, webhook, remote)

    def _webhook(self, name: str, entry: "WebhookConfiguration") -> Modes:
        from aio_apiserver.registry.plugins.authorization import config_expressions

        remote = RemoteSettings(
            version=entry.subject_access_review_version,
            allowed_seconds=entry.authorized_ttl if entry.cache_authorized_requests else 0,
            denied_seconds=entry.unauthorized_ttl if entry.cache_unauthorized_requests else 0,
            on_failure=Verdict.DENY if entry.failure_policy == "Deny" else Verdict.NO_OPINION,
        )
        assert entry.connection_info.kube_config_file is not None
        webhook = self._out.webhooks.read(entry.connection_info.kube_config_file).within(entry.timeout)
        applies = config_expressions.match_conditions([condition.expression for condition in entry.match_conditions])
        return self._remote(name, webhook, remote, applies=applies)

    def _remote(self, name: str, webhook: FileWebhook, remote: RemoteSettings, *, applies: Applies = _always) -> Modes:
        calls = self._metrics.webhook(name)
        ask = self._out.webhooks.asker(webhook, counted=calls.called_once)
        authorizer = RemoteAuthorizer(ask, remote, self._clock, applies=applies, failed_open=calls.failed_open)
        return Modes("Webhook", name, authorizer)


def _config_of(settings: Settings) -> "AuthorizationConfiguration | None":
    if settings.authorization_config is None:
        return None
    from aio_apiserver.apiserver.access import authorization_config

    return authorization_config.read(settings.authorization_config)
