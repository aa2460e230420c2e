"""Access: who gets in and what they may do, put together from the settings and the files that they name.

Opens files; decides nothing. Must hold: what is wrong with a file ends the start, with the flag's name in the message.
"""

import fcntl
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from cryptography.hazmat.primitives import serialization

from apiserver import certificates, files
from apiserver.certificates import Pki
from apiserver.settings import Settings
from registry.access import modes, signing_keys, token_file
from registry.access.alive import Alive
from registry.access.authentication import KnownTokens, TokenAuthenticator, Tokens
from registry.access.legacy_tokens import LEGACY_ISSUER, LegacyTokens
from registry.access.modes import Modes
from registry.access.service_account_tokens import ServiceAccountTokens, SignedTokens
from registry.access.signing_keys import Keys, PublicKey, SigningKeys
from registry.access.token_issuer import TokenIssuer
from registry.access.users import MASTERS, UserInfo, authenticated
from registry.rest import StorageFor
from storage.clock import Clock

_SIGNING_KEY = "service-account.key"


@dataclass(frozen=True, slots=True)
class Access:
    """What the server and its registry ask."""

    modes: Modes
    tokens: Tokens
    issuer: TokenIssuer


def of(settings: Settings, pki: Pki, storage_for: StorageFor, clock: Clock) -> Access:
    """Everything that the settings ask for. Raises OSError or ValueError."""
    issuer = _issuer(settings)
    alive = Alive(storage_for)
    audiences = issuer.own_audiences
    authenticators: list[TokenAuthenticator] = [KnownTokens(_known(settings, pki), audiences)]
    if settings.service_account_lookup:
        legacy = SignedTokens(issuer.keys, (LEGACY_ISSUER,))
        authenticators.append(LegacyTokens(legacy, audiences, alive, storage_for, clock))
    bound = SignedTokens(issuer.keys, issuer.issuers)
    authenticators.append(ServiceAccountTokens(bound, audiences, alive, clock))
    return Access(modes.of(settings.authorization_mode, storage_for), Tokens(authenticators, audiences), issuer)


def _known(settings: Settings, pki: Pki) -> Mapping[str, UserInfo]:
    """Users by bearer token: those of the token file, and the administrator."""
    users: dict[str, UserInfo] = {}
    if settings.token_auth_file is not None:
        users.update(token_file.parse(settings.token_auth_file.read_text(), str(settings.token_auth_file)))
    users[pki.admin_token] = authenticated(UserInfo(name=certificates.ADMIN, groups=(MASTERS,)))
    return users


def _issuer(settings: Settings) -> TokenIssuer:
    return TokenIssuer(
        keys=_keys(settings),
        issuers=settings.service_account_issuer,
        own_audiences=settings.api_audiences or settings.service_account_issuer,
        max_seconds=int(settings.service_account_max_token_expiration),
        extends=settings.service_account_extend_token_expiration,
    )


def _keys(settings: Settings) -> SigningKeys:
    """The keys of the flags, read now; without any, one of the server's own, made when it is needed."""
    signing_file, verifying_files = settings.service_account_signing_key_file, settings.service_account_key_file
    if signing_file is None and not verifying_files:
        return SigningKeys(partial(_own_keys, settings.pki_dir))
    verifying: list[PublicKey] = [key for path in verifying_files for key in _public_keys(Path(path))]
    if signing_file is None:
        keys = Keys(None, [signing_keys.VerifyingKey(key) for key in verifying])
    else:
        keys = signing_keys.of(_private_key(signing_file), verifying)
    return SigningKeys(lambda: keys)


def _public_keys(path: Path) -> list[PublicKey]:
    try:
        return signing_keys.parse_public(path.read_bytes())
    except ValueError as exc:
        raise ValueError(f"--service-account-key-file {path}: {exc}") from exc


def _private_key(path: Path) -> signing_keys.PrivateKey:
    try:
        return signing_keys.parse_private(path.read_bytes())
    except ValueError as exc:
        raise ValueError(f"--service-account-signing-key-file {path}: {exc}") from exc


def _own_keys(directory: Path) -> Keys:
    """The key in the directory of the server's own, which all its processes share."""
    path = directory / _SIGNING_KEY
    with (directory / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not path.exists():
            files.put(path, _pem(signing_keys.new_key()))
        return signing_keys.of(_private_key(path))


def _pem(key: signing_keys.PrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
