"""Bootstrap tokens: authenticates new nodes by tokens that are stored as secrets in kube-system.

    abcdef.0123456789abcdef secret bootstrap-token-abcdef, user system:bootstrap:abcdef

Must hold: a secret with any wrong member authenticates no client. The reason is logged and not sent to the client.
"""

import base64
import binascii
import hmac
import logging
import re
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from aio_apiserver.base.clock import Clock
from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import errors
from aio_apiserver.registry.generic.access.authentication import Authenticated, BadToken
from aio_apiserver.registry.generic.access.users import UserInfo
from aio_apiserver.registry.generic.bound_objects import BoundObjects
from aio_apiserver.registry.groups.core.config.secrets import SECRETS
from aio_apiserver.registry.plugins.authentication import jwts

logger = logging.getLogger(__name__)

_NAMESPACE = "kube-system"
_TYPE = "bootstrap.kubernetes.io/token"
_GROUP = "system:bootstrappers"
_TOKEN = re.compile(r"([a-z0-9]{6})\.([a-z0-9]{16})")
_EXTRA_GROUP = re.compile(r"system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]")


class BootstrapTokens:
    """Recognizes bootstrap tokens by their format."""

    def __init__(self, own_audiences: Sequence[str], bound: BoundObjects, clock: Clock) -> None:
        self._own_audiences = own_audiences
        self._bound_objects = bound
        self._clock = clock

    async def authenticate(self, token: str, audiences: Collection[str]) -> Authenticated | None:
        parts = _TOKEN.fullmatch(token)
        common = jwts.common(self._own_audiences, audiences)
        if parts is None or not common:
            return None
        identifier, content = parts.groups()
        try:
            found = await self._bound_objects.find(SECRETS, _NAMESPACE, f"bootstrap-token-{identifier}")
        except errors.NotFound:
            return None
        except errors.StatusError as exc:
            raise BadToken(exc.message) from exc
        if wrong := self._wrong(found.obj, identifier, content):
            logger.info("bootstrap token %s is not accepted: %s", identifier, wrong)
            return None
        data = _data_of(found.obj)
        return Authenticated(UserInfo(name=f"system:bootstrap:{identifier}", groups=_groups(data)), common)

    def _wrong(self, secret: Object, identifier: str, content: str) -> str:
        """Why the secret does not accept the token; empty when it does."""
        data = _data_of(secret)
        if secret["metadata"].get("deletionTimestamp"):
            return "its secret is being deleted"
        if secret.get("type") != _TYPE:
            return f"its secret is not of type {_TYPE}"
        if not hmac.compare_digest(data.get("token-secret", "").encode(), content.encode()):
            return "its secret holds another token"
        if data.get("token-id") != identifier:
            return "its secret holds another id"
        if _has_ended(data.get("expiration", ""), self._clock.now()):
            return "it has expired"
        if data.get("usage-bootstrap-authentication") != "true":
            return "it is not meant for authentication"
        groups = _groups(data)[1:]
        return "" if all(map(_EXTRA_GROUP.fullmatch, groups)) else "one of its groups is not a bootstrapper's"


def _groups(data: Mapping[str, str]) -> tuple[str, ...]:
    """The group of all bootstrap tokens, then the extra groups of the secret."""
    extra = {group for group in data.get("auth-extra-groups", "").split(",") if group}
    return _GROUP, *sorted(extra)


def _has_ended(text: str, now: float) -> bool:
    """An expiration that cannot be parsed counts as expired."""
    if not text:
        return False
    try:
        return datetime.fromisoformat(text).timestamp() < now
    except ValueError:
        return True


def _data_of(secret: Object) -> Mapping[str, str]:
    return {name: _decoded(value) for name, value in (secret.get("data") or {}).items()}


def _decoded(value: str) -> str:
    try:
        return base64.b64decode(value).decode()
    except (binascii.Error, ValueError):
        return ""
