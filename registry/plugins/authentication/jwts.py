"""JWTs: JSON web tokens, before and after their signature is verified.

Must hold: before verification, claims are used to choose keys, and for no decision about the user. Algorithms with a
shared secret are not accepted.
"""

import base64
import binascii
import math
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import orjson

from aio_apiserver.registry.generic.access.authentication import BadToken

LEEWAY_SECONDS = 60
_PARTS = 3
_ENCODED = re.compile(r"[\w-]*", re.ASCII)
ALGORITHMS = ("RS256", "RS384", "RS512", "ES256", "ES384", "ES512", "PS256", "PS384", "PS512", "EdDSA")
_NO_TIME = "go-jose/go-jose/jwt: expected number value to unmarshal NumericDate"
_NOT_VERIFIED = "go-jose/go-jose: error in cryptographic primitive"


def unverified(token: str, part: int) -> Mapping[str, Any] | None:
    """The header (0) or the claims (1) of a token without verification; None for text that is not a JWT."""
    parts = token.split(".")
    if len(parts) != _PARTS or not _ENCODED.fullmatch(parts[-1]):
        return None
    text = parts[part]
    try:
        value = orjson.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    except (binascii.Error, ValueError):
        return None
    return value if isinstance(value, dict) else None


def verified(token: str, keys: Sequence[Any], algorithms: Sequence[str] = ALGORITHMS) -> Mapping[str, Any]:
    """The claims of a token that one of the keys has signed. Raises BadToken."""
    import jwt

    wrong: list[str] = []
    for key in keys:
        try:
            payload = jwt.PyJWS().decode(token, key, algorithms=list(algorithms))
            claims = orjson.loads(payload)
        except jwt.PyJWTError:
            wrong.append(_NOT_VERIFIED)
        except (ValueError, TypeError) as exc:
            wrong.append(str(exc))
        else:
            if isinstance(claims, dict):
                return claims
            wrong.append("the claims are no object")
    distinct = list(dict.fromkeys(wrong))
    raise BadToken(f"[{', '.join(distinct)}]" if len(distinct) > 1 else "".join(distinct))


def audiences_of(claims: Mapping[str, Any]) -> Sequence[str]:
    """The audiences of a token."""
    audience = claims.get("aud")
    if isinstance(audience, str):
        return (audience,)
    return [one for one in audience if isinstance(one, str)] if isinstance(audience, list) else ()


def common(held: Sequence[str], requested: Collection[str]) -> Sequence[str]:
    """The audiences of a token that were requested."""
    return [audience for audience in held if audience in requested]


def seconds_of(claims: Mapping[str, Any], name: str) -> float | None:
    """A time claim; None when the token does not have it. Raises BadToken when it is not a number."""
    value = claims.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise BadToken(_NO_TIME)
    return float(value)
