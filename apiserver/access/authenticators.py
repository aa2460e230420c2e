"""Authenticators: builds the token authenticators of the flags and of AuthenticationConfiguration.

Must hold: an error in a file ends the start, with the file's name in the message. After the start it is logged and
changes nothing.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from aio_apiserver.apiserver.config.settings import Settings
from aio_apiserver.apiserver.metrics.metric_families import Measures
from aio_apiserver.apiserver.metrics.reloads import ConfigurationMetrics
from aio_apiserver.apiserver.outgoing.assembly import Outgoing
from aio_apiserver.apiserver.tls import bundles, certificates, reloading
from aio_apiserver.apiserver.tls.certificates import Pki
from aio_apiserver.apiserver.tls.reloading import Contents, Reloaded
from aio_apiserver.base.clock import Clock
from aio_apiserver.registry.generic.access.authentication import KnownTokens, Replaceable, TokenAuthenticator, Tokens
from aio_apiserver.registry.generic.access.token_issuer import TokenIssuer
from aio_apiserver.registry.generic.access.users import MASTERS, UserInfo, authenticated
from aio_apiserver.registry.generic.bound_objects import BoundObjects
from aio_apiserver.registry.generic.rest import StorageFor
from aio_apiserver.registry.plugins.authentication import oidc, token_file
from aio_apiserver.registry.plugins.authentication.bootstrap_tokens import BootstrapTokens
from aio_apiserver.registry.plugins.authentication.legacy_tokens import LEGACY_ISSUER, LegacyTokens
from aio_apiserver.registry.plugins.authentication.oidc import Issuer, IssuerKeys, OIDCTokens
from aio_apiserver.registry.plugins.authentication.service_account_tokens import ServiceAccountTokens, SignedTokens
from aio_apiserver.registry.plugins.authorization.review_webhooks import RemoteTokens

if TYPE_CHECKING:  # a file that most servers do not have: its models and expressions take a while to import
    from aio_apiserver.apiserver.access.authentication_config import AuthenticationConfiguration

AllowsAnonymous = Callable[[str], bool]
"""Whether a path accepts anonymous requests. Authorization decides about them afterwards."""


class Authenticators:
    """The token authenticators of one server. Raises OSError or ValueError."""

    def __init__(
        self, settings: Settings, pki: Pki, storage_for: StorageFor, clock: Clock, *, out: Outgoing, issuer: TokenIssuer
    ) -> None:
        self._settings = settings
        self._storage_for = storage_for
        self._clock = clock
        self._out = out
        self._issuer = issuer
        self._config = _config_of(settings)
        self._known_tokens = KnownTokens(self._known_users(pki), issuer.own_audiences)
        self._of_file = Replaceable([tokens for tokens, _ in self._issuers(self._config)])
        is_open = (
            settings.anonymous_auth if self._config is None else self._config.is_open_to_all(settings.anonymous_auth)
        )
        self.tokens = Tokens(self._known_tokens, list(self._others()), issuer.own_audiences, allows_anonymous=is_open)

    @property
    def allows_anonymous(self) -> AllowsAnonymous:
        anonymous = self._config.anonymous if self._config is not None else None
        if anonymous is None:
            allows = self._settings.anonymous_auth
            return lambda _path: allows
        paths = {condition.path for condition in anonymous.conditions}
        return lambda path: anonymous.enabled and (not paths or path in paths)

    def renew(self, pki: Pki) -> None:
        """Accept the administrator's tokens of now. Raises OSError, ValueError."""
        self._known_tokens.replace(self._known_users(pki))

    def reloaded(self, measures: Measures) -> Iterator[Reloaded]:
        """The files that are reloaded."""
        path = self._settings.authentication_config
        if path is None:
            return
        metrics = ConfigurationMetrics("authentication", self._clock)
        measures.ask(metrics.families)
        contents = reloading.read([path])
        metrics.in_force(contents[0])

        def tell(contents: Contents | None) -> None:
            metrics.reloaded(contents[0] if contents is not None else None)

        yield Reloaded("authentication configuration", [path], self._take_over, contents, tell)

    async def _take_over(self, contents: Contents) -> None:
        """Replace the issuers, once the keys of all new ones have been fetched. Raises OSError, ValueError."""
        from aio_apiserver.apiserver.access import authentication_config

        path = self._settings.authentication_config
        assert path is not None
        assert self._config is not None
        config = authentication_config.parse(contents[0], path, self._issuer.issuers)
        if config.anonymous != self._config.anonymous:
            raise ValueError(f"{path}: anonymous: Forbidden: changed from initial configuration file")
        issuers = list(self._issuers(config))
        for _, keys in issuers:
            await keys.fetch()
        self._of_file.replace([tokens for tokens, _ in issuers])

    def _others(self) -> Iterator[TokenAuthenticator]:
        settings, clock, issuer = self._settings, self._clock, self._issuer
        audiences = issuer.own_audiences
        bound = BoundObjects(self._storage_for)
        if settings.service_account_lookup:
            signed = SignedTokens(issuer.keys, (LEGACY_ISSUER,))
            yield LegacyTokens(signed, audiences, bound, self._storage_for, clock)
        yield ServiceAccountTokens(SignedTokens(issuer.keys, issuer.issuers), audiences, bound, clock)
        if settings.enable_bootstrap_token_auth:
            yield BootstrapTokens(audiences, bound, clock)
        if settings.authentication_config is not None:
            yield self._of_file
        if settings.oidc_issuer_url:
            authority = settings.oidc_ca_file.read_text() if settings.oidc_ca_file else ""
            yield self._oidc(_issuer_of_flags(settings), authority)[0]
        if settings.authentication_token_webhook_config_file is not None:
            ask = self._out.webhooks.open_webhook(settings.authentication_token_webhook_config_file)
            version, seconds = (
                settings.authentication_token_webhook_version,
                settings.authentication_token_webhook_cache_ttl,
            )
            yield RemoteTokens(ask, version, audiences, seconds, clock)

    def _known_users(self, pki: Pki) -> Mapping[str, UserInfo]:
        """Users by bearer token: those of the token file, and the administrator. Raises OSError, ValueError."""
        users: dict[str, UserInfo] = {}
        path = self._settings.token_auth_file
        if path is not None:
            users.update(token_file.parse(path.read_text(), str(path)))
        admin = authenticated(UserInfo(name=certificates.ADMIN, groups=(MASTERS,)))
        return {**users, **dict.fromkeys(pki.admin_tokens, admin)}

    def _issuers(self, config: "AuthenticationConfiguration | None") -> Iterator[tuple[OIDCTokens, IssuerKeys]]:
        for one in config.jwt if config is not None else ():
            yield self._oidc(one.as_issuer(), one.issuer.certificate_authority)

    def _oidc(self, issuer: Issuer, authority: str) -> tuple[OIDCTokens, IssuerKeys]:
        keys = IssuerKeys(issuer, self._out.documents.fetcher(bundles.trusting(authority)), self._clock.patience)
        return OIDCTokens(issuer, keys, self._issuer.own_audiences, self._clock), keys


def _config_of(settings: Settings) -> "AuthenticationConfiguration | None":
    if settings.authentication_config is None:
        return None
    from aio_apiserver.apiserver.access import authentication_config

    return authentication_config.read(settings.authentication_config, settings.service_account_issuer)


def _issuer_of_flags(settings: Settings) -> Issuer:
    claim, prefix = settings.oidc_username_claim, settings.oidc_username_prefix
    if not prefix and claim != "email":
        prefix = f"{settings.oidc_issuer_url}#"
    return Issuer(
        url=settings.oidc_issuer_url,
        audiences=(settings.oidc_client_id,),
        algorithms=settings.oidc_signing_algs,
        username=oidc.name_from(claim, "" if prefix == "-" else prefix),
        groups=oidc.groups_from(settings.oidc_groups_claim, settings.oidc_groups_prefix),
        checks=[oidc.requiring(claim, value) for claim, value in settings.oidc_required_claim.items()],
    )
