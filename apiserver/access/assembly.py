"""Assembly: builds authentication and authorization from the settings and the files that they name.

It opens files and decides nothing. Must hold: an error in a file ends the start, with the file's name in the message.
"""

from collections.abc import Callable, Sequence
from functools import partial

from msgspec import Struct

from aio_apiserver.apiserver.access import service_account_keys
from aio_apiserver.apiserver.access.authenticators import AllowsAnonymous, Authenticators
from aio_apiserver.apiserver.access.authorizers import Authorizers
from aio_apiserver.apiserver.config.settings import Settings
from aio_apiserver.apiserver.metrics import authorization
from aio_apiserver.apiserver.metrics.metric_families import Measures
from aio_apiserver.apiserver.outgoing.assembly import Outgoing
from aio_apiserver.apiserver.tls import contexts
from aio_apiserver.apiserver.tls.certificates import Pki
from aio_apiserver.apiserver.tls.certified_users import CertifiedUsers, Trusted
from aio_apiserver.apiserver.tls.client_certificates import authorities_in
from aio_apiserver.apiserver.tls.reloading import Reloaded
from aio_apiserver.base.clock import Clock
from aio_apiserver.registry.controlplane.bootstrap.authentication_trust import Trust
from aio_apiserver.registry.generic.access.authentication import Tokens
from aio_apiserver.registry.generic.access.authorizer import Authorizer
from aio_apiserver.registry.generic.access.token_issuer import TokenIssuer
from aio_apiserver.registry.generic.rest import StorageFor
from aio_apiserver.registry.plugins.authentication.front_proxy import FrontProxy
from aio_apiserver.registry.plugins.authorization.authorization_metrics import AuthorizationMetrics
from aio_apiserver.registry.plugins.authorization.modes import Run, Settle


class Access(Struct, frozen=True, kw_only=True):
    """The authentication and authorization of one server.

    runs: background work of the authorizers. settle: returns when they have seen all stored objects. reloaded: the
    files that are reloaded. renew: loads the tokens and keys again that are in the certificate directory.
    """

    authorizer: Authorizer
    runs: Sequence[Run]
    settle: Settle
    tokens: Tokens
    issuer: TokenIssuer
    certified: CertifiedUsers
    allows_anonymous: AllowsAnonymous
    reloaded: Sequence[Reloaded]
    renew: Callable[[Pki], None]


def open_access(
    settings: Settings, pki: Pki, storage_for: StorageFor, clock: Clock, *, out: Outgoing, measures: Measures
) -> Access:
    """Build everything. Raises OSError or ValueError."""
    issuer = TokenIssuer(
        keys=service_account_keys.of(settings),
        issuers=settings.service_account_issuer,
        own_audiences=settings.api_audiences or settings.service_account_issuer,
        max_seconds=int(settings.service_account_max_token_expiration),
        extends=settings.service_account_extend_token_expiration,
    )
    authenticators = Authenticators(settings, pki, storage_for, clock, out=out, issuer=issuer)
    decisions = AuthorizationMetrics()
    measures.ask(lambda: authorization.families(decisions))
    authorizers = Authorizers(settings, storage_for, clock, out=out, metrics=decisions)
    return Access(
        authorizer=authorizers.authorizer,
        runs=authorizers.runs,
        settle=authorizers.settle,
        tokens=authenticators.tokens,
        issuer=issuer,
        certified=CertifiedUsers(_front_proxy(settings), trusted(settings, pki)),
        allows_anonymous=authenticators.allows_anonymous,
        reloaded=[*authenticators.reloaded(measures), *authorizers.reloaded(measures)],
        renew=partial(_renew, authenticators, issuer),
    )


def _renew(authenticators: Authenticators, issuer: TokenIssuer, pki: Pki) -> None:
    authenticators.renew(pki)
    issuer.keys.reload()


def trusted(settings: Settings, pki: Pki) -> Trusted:
    """The CAs of users and front proxies from their present files. Raises OSError, ValueError."""
    of_users = settings.client_ca_file.read_bytes() if settings.client_ca_file is not None else b""
    of_proxies = b"".join(path.read_bytes() for path in contexts.proxy_bundles(settings))
    return Trusted(
        users=authorities_in(filter(None, (pki.ca.certificate.read_bytes(), of_users))),
        proxies=authorities_in(filter(None, (of_proxies,))),
        users_bundle=of_users,
        proxies_bundle=of_proxies,
    )


def published(settings: Settings, certified: CertifiedUsers) -> Trust:
    """The CAs and header names for extension API servers, as the config map extension-apiserver-authentication has
    them.
    """
    return Trust(
        client_authorities=certified.trusted.users_bundle,
        proxy_authorities=certified.trusted.proxies_bundle,
        username_headers=settings.requestheader_username_headers,
        uid_headers=settings.requestheader_uid_headers,
        group_headers=settings.requestheader_group_headers,
        extra_prefixes=settings.requestheader_extra_headers_prefix,
        allowed_names=settings.requestheader_allowed_names,
    )


def _front_proxy(settings: Settings) -> FrontProxy | None:
    if settings.requestheader_client_ca_file is None:
        return None
    return FrontProxy(
        allowed_names=settings.requestheader_allowed_names,
        username_headers=settings.requestheader_username_headers,
        uid_headers=settings.requestheader_uid_headers,
        group_headers=settings.requestheader_group_headers,
        extra_prefixes=settings.requestheader_extra_headers_prefix,
    )
