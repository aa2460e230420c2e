"""Legacy tokens: service account tokens that stand in secrets, without an end and for no audience in particular.

Must hold: a token counts only while its secret holds just that token; the day of its last use is noted on the secret.
"""

import base64
import binascii
import hmac
import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from registry import errors, objects
from registry.access import jwts
from registry.access.alive import Alive
from registry.access.authentication import Authenticated, BadToken
from registry.access.service_account_claims import Claims
from registry.access.service_account_tokens import SignedTokens
from registry.access.users import UserInfo, service_account_groups, service_account_name, split_service_account
from registry.core.secrets import SECRETS
from registry.core.serviceaccounts import SERVICEACCOUNTS
from registry.generic.provider import resource_of
from registry.gotext import quoted
from registry.rest import StorageFor
from storage.clock import Clock
from storage.errors import StorageError
from storage.interface import Update
from storage.stored_object import Object, StoredObject

logger = logging.getLogger(__name__)

LEGACY_ISSUER = "kubernetes/serviceaccount"
_PREFIX = "kubernetes.io/serviceaccount/"
_LAST_USED = "kubernetes.io/legacy-token-last-used"
_INVALID_SINCE = "kubernetes.io/legacy-token-invalid-since"
_CLAIMS = {
    "namespace": "namespace",
    "secret.name": "secretName",
    "service-account.name": "serviceAccountName",
    "service-account.uid": "serviceAccountUID",
}
"""The claims in the order in which they are looked at, and what the messages call them."""
_GONE = "Token has been invalidated"
_AUTO_GENERATED = (
    "Use tokens from the TokenRequest API or manually created secret-based tokens instead of "
    "auto-generated secret-based tokens."
)


@dataclass(frozen=True, slots=True)
class _Said:
    """What a token says of itself."""

    namespace: str
    secret: str
    account: str
    uid: str


class LegacyTokens:
    """Knows them by their issuer."""

    def __init__(
        self,
        signed: SignedTokens,
        own_audiences: Sequence[str],
        alive: Alive,
        storage_for: StorageFor,
        clock: Clock,
    ) -> None:
        self._signed = signed
        self._own_audiences = own_audiences
        self._alive = alive
        self._secrets = storage_for(resource_of(SECRETS))
        self._clock = clock

    async def authenticate(self, token: str, audiences: Collection[str]) -> Authenticated | None:
        claims = await self._signed.claims(token)
        if claims is None:
            return None
        common = jwts.common(self._own_audiences, audiences)
        if not common:
            held = quoted(self._own_audiences)
            detail = f"token audiences {held} is invalid for the target audiences {quoted(audiences)}"
            raise BadToken(detail)
        said = _said(claims)
        secret = await self._secret(said, token)
        account = await self._account(said)
        await self._check_validity(said, secret)
        user = UserInfo(
            name=service_account_name(said.namespace, said.account),
            uid=said.uid,
            groups=service_account_groups(said.namespace),
        )
        is_generated = any(one.get("name") == said.secret for one in account.get("secrets") or ())
        return Authenticated(user, common, (_AUTO_GENERATED,) if is_generated else ())

    async def _secret(self, said: _Said, token: str) -> Object:
        try:
            found = await self._alive.find(SECRETS, said.namespace, said.secret)
        except errors.StatusError as exc:
            raise BadToken(_GONE) from exc
        if found.ends is not None:
            raise BadToken(_GONE)
        if not hmac.compare_digest(_content(found.obj), token.encode()):
            raise BadToken("Token does not match server's copy")
        return found.obj

    async def _account(self, said: _Said) -> Object:
        try:
            found = await self._alive.find(SERVICEACCOUNTS, said.namespace, said.account, uid=said.uid)
        except errors.StatusError as exc:
            raise BadToken(exc.message) from exc
        if found.ends is not None:
            raise BadToken(f"ServiceAccount {said.namespace}/{said.account} has been deleted")
        if found.uid != said.uid:
            raise BadToken(f"ServiceAccount UID ({found.uid}) does not match claim ({said.uid})")
        return found.obj

    async def _check_validity(self, said: _Said, secret: Object) -> None:
        labels = objects.get(secret, "metadata.labels", {})
        await self._note_use(said, labels)
        if labels.get(_INVALID_SINCE):
            place, account = f"{said.namespace}/{said.secret}", f"{said.namespace}/{said.account}"
            raise BadToken(
                f"the token in secret {place} for service account {account} has been marked invalid. Use tokens from "
                "the TokenRequest API or manually created secret-based tokens, or remove the "
                f"'{_INVALID_SINCE}' label from the secret to temporarily allow use of this token"
            )

    async def _note_use(self, said: _Said, labels: Mapping[str, str]) -> None:
        """Write the day of the use on the secret, once a day; servers whose clocks differ do not write in turns."""
        today = datetime.fromtimestamp(self._clock.now(), UTC).date()
        if labels.get(_LAST_USED) in (today.isoformat(), (today + timedelta(days=1)).isoformat()):
            return

        async def note(current: StoredObject | None) -> Update:
            assert current is not None
            obj = current.decode()
            obj["metadata"]["labels"] = {**(obj["metadata"].get("labels") or {}), _LAST_USED: today.isoformat()}
            return Update(obj)

        try:
            await self._secrets.guaranteed_update(f"{said.namespace}/{said.secret}", note)
        except StorageError as exc:
            logger.warning("cannot note the use of a legacy token in secret %s: %s", said.secret, exc)


def _said(claims: Claims) -> _Said:
    """Raises BadToken when a claim is missing, or the subject is another account."""
    if not claims.get("sub"):
        raise BadToken("sub claim is missing")
    values = {name: claims.get(f"{_PREFIX}{name}") for name in _CLAIMS}
    for name, title in _CLAIMS.items():
        if not isinstance(values[name], str) or not values[name]:
            raise BadToken(f"{title} claim is missing")
    said = _Said(*(str(value) for value in values.values()))
    if split_service_account(str(claims["sub"])) != (said.namespace, said.account):
        raise BadToken("sub claim is invalid")
    return said


def _content(secret: Object) -> bytes:
    """The token in a secret."""
    try:
        return base64.b64decode(objects.get(secret, "data.token", ""))
    except (binascii.Error, ValueError, TypeError):
        return b""
