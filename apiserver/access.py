"""Access: who gets in and what they may do, put together from the settings and the files that they name.

Opens files; decides nothing. Must hold: what is wrong with a file ends the start, with its name in the message.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from apiserver import certificates, outgoing, service_account_keys
from apiserver.certificates import Pki
from apiserver.front_proxies import FrontProxies
from apiserver.outgoing import Outgoing
from apiserver.settings import Settings
from registry.access import abac, modes, oidc, token_file
from registry.access.alive import Alive
from registry.access.authentication import KnownTokens, TokenAuthenticator, Tokens
from registry.access.authorizer import Verdict
from registry.access.bootstrap_tokens import BootstrapTokens
from registry.access.front_proxy import FrontProxy
from registry.access.legacy_tokens import LEGACY_ISSUER, LegacyTokens
from registry.access.modes import Modes
from registry.access.oidc import Issuer, IssuerKeys, OIDCTokens
from registry.access.remote import RemoteAuthorizer, RemoteSettings, RemoteTokens
from registry.access.service_account_tokens import ServiceAccountTokens, SignedTokens
from registry.access.token_issuer import TokenIssuer
from registry.access.users import MASTERS, UserInfo, authenticated
from registry.rest import StorageFor
from storage.clock import Clock

if TYPE_CHECKING:  # files that most servers do not have: their models and expressions take a while to import
    from apiserver.authentication_config import AuthenticationConfiguration
    from apiserver.authorization_config import Webhook

AllowsAnonymous = Callable[[str], bool]
"""Whether nobody in particular may ask for a path: whether to let them, authorization decides."""


@dataclass(frozen=True, slots=True)
class Access:
    """What the server and its registry ask."""

    modes: Modes
    tokens: Tokens
    issuer: TokenIssuer
    front_proxies: FrontProxies | None
    allows_anonymous: AllowsAnonymous


def open_access(settings: Settings, pki: Pki, storage_for: StorageFor, clock: Clock, out: Outgoing) -> Access:
    """Everything that the settings ask for. Raises OSError or ValueError."""
    return _Builder(settings, pki, storage_for, clock, out).access()


@dataclass(frozen=True, slots=True)
class _Builder:
    """What all parts are made from."""

    settings: Settings
    pki: Pki
    storage_for: StorageFor
    clock: Clock
    out: Outgoing

    def access(self) -> Access:
        settings = self.settings
        config = self._authentication_config()
        issuer = TokenIssuer(
            keys=service_account_keys.of(settings),
            issuers=settings.service_account_issuer,
            own_audiences=settings.api_audiences or settings.service_account_issuer,
            max_seconds=int(settings.service_account_max_token_expiration),
            extends=settings.service_account_extend_token_expiration,
        )
        return Access(
            modes.chain(list(self._modes())),
            Tokens(list(self._authenticators(issuer, config)), issuer.own_audiences),
            issuer,
            self._front_proxies(),
            _anonymous(settings, config),
        )

    def _authentication_config(self) -> "AuthenticationConfiguration | None":
        if self.settings.authentication_config is None:
            return None
        from apiserver import authentication_config

        return authentication_config.read(self.settings.authentication_config)

    # Authentication

    def _authenticators(
        self, issuer: TokenIssuer, config: "AuthenticationConfiguration | None"
    ) -> Iterator[TokenAuthenticator]:
        settings, clock, audiences = self.settings, self.clock, issuer.own_audiences
        alive = Alive(self.storage_for)
        yield KnownTokens(self._known(), audiences)
        if settings.service_account_lookup:
            signed = SignedTokens(issuer.keys, (LEGACY_ISSUER,))
            yield LegacyTokens(signed, audiences, alive, self.storage_for, clock)
        yield ServiceAccountTokens(SignedTokens(issuer.keys, issuer.issuers), audiences, alive, clock)
        if settings.enable_bootstrap_token_auth:
            yield BootstrapTokens(audiences, alive, clock)
        for one in config.jwt if config is not None else ():
            yield self._oidc(one.as_issuer(), one.issuer.certificate_authority, audiences)
        if settings.oidc_issuer_url:
            authority = settings.oidc_ca_file.read_text() if settings.oidc_ca_file else ""
            yield self._oidc(_issuer_of_flags(settings), authority, audiences)
        if settings.authentication_token_webhook_config_file is not None:
            ask = self.out.open_webhook(settings.authentication_token_webhook_config_file)
            version, seconds = (
                settings.authentication_token_webhook_version,
                settings.authentication_token_webhook_cache_ttl,
            )
            yield RemoteTokens(ask, version, audiences, seconds, clock)

    def _known(self) -> Mapping[str, UserInfo]:
        """Users by bearer token: those of the token file, and the administrator."""
        users: dict[str, UserInfo] = {}
        path = self.settings.token_auth_file
        if path is not None:
            users.update(token_file.parse(path.read_text(), str(path)))
        users[self.pki.admin_token] = authenticated(UserInfo(name=certificates.ADMIN, groups=(MASTERS,)))
        return users

    def _oidc(self, issuer: Issuer, authority: str, audiences: Sequence[str]) -> OIDCTokens:
        keys = IssuerKeys(issuer, self.out.fetcher(outgoing.trusting(authority)), self.clock.patience)
        return OIDCTokens(issuer, keys, audiences, self.clock)

    def _front_proxies(self) -> FrontProxies | None:
        settings = self.settings
        if settings.requestheader_client_ca_file is None:
            return None
        proxy = FrontProxy(
            allowed_names=settings.requestheader_allowed_names,
            username_headers=settings.requestheader_username_headers,
            uid_headers=settings.requestheader_uid_headers,
            group_headers=settings.requestheader_group_headers,
            extra_prefixes=settings.requestheader_extra_headers_prefix,
        )
        of_users = filter(None, (self.pki.ca.certificate, settings.client_ca_file))
        return FrontProxies.read(proxy, settings.requestheader_client_ca_file, of_users)

    # Authorization

    def _modes(self) -> Iterator[Modes]:
        settings = self.settings
        if settings.authorization_config is None:
            for name in settings.authorization_mode:
                yield self._webhook_of_flags() if name == "Webhook" else self._mode(name)
            return
        from apiserver import authorization_config

        for entry in authorization_config.read(settings.authorization_config).authorizers:
            yield self._mode(entry.type) if entry.webhook is None else self._webhook(entry.webhook)

    def _mode(self, name: str) -> Modes:
        if name != "ABAC":
            return modes.own(name, self.storage_for)
        path = self.settings.authorization_policy_file
        if path is None:
            raise ValueError("--authorization-policy-file must be specified with the mode ABAC")
        return Modes(abac.ABAC(abac.parse(path.read_text(), str(path))))

    def _webhook_of_flags(self) -> Modes:
        settings = self.settings
        remote = RemoteSettings(
            version=settings.authorization_webhook_version,
            allowed_seconds=settings.authorization_webhook_cache_authorized_ttl,
            denied_seconds=settings.authorization_webhook_cache_unauthorized_ttl,
        )
        if settings.authorization_webhook_config_file is None:
            raise ValueError("--authorization-webhook-config-file must be specified with the mode Webhook")
        ask = self.out.open_webhook(settings.authorization_webhook_config_file)
        return Modes(RemoteAuthorizer(ask, remote, self.clock))

    def _webhook(self, entry: "Webhook") -> Modes:
        from registry.access import expressions

        remote = RemoteSettings(
            version=entry.subject_access_review_version,
            allowed_seconds=entry.authorized_ttl if entry.cache_authorized_requests else 0,
            denied_seconds=entry.unauthorized_ttl if entry.cache_unauthorized_requests else 0,
            on_failure=Verdict.DENY if entry.failure_policy == "Deny" else Verdict.NO_OPINION,
        )
        assert entry.connection_info.kube_config_file is not None
        webhook = self.out.webhook_of(entry.connection_info.kube_config_file)
        ask = self.out.asker(webhook.within(entry.timeout))
        applies = expressions.match_conditions([condition.expression for condition in entry.match_conditions])
        return Modes(RemoteAuthorizer(ask, remote, self.clock, applies=applies))


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


def _anonymous(settings: Settings, config: "AuthenticationConfiguration | None") -> AllowsAnonymous:
    anonymous = config.anonymous if config is not None else None
    if anonymous is None:
        return lambda _path: settings.anonymous_auth
    paths = {condition.path for condition in anonymous.conditions}
    return lambda path: anonymous.enabled and (not paths or path in paths)
