"""Service account keys: the keys of the flags, or a key of the server's own in its certificate directory.

`service-account.key` in the directory signs. While the key is rotated, `service-account.pub` has all keys that verify.
"""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from cryptography.hazmat.primitives import serialization

from aio_apiserver.apiserver.config.settings import Settings
from aio_apiserver.base import private_files
from aio_apiserver.registry.generic.access import signing_keys
from aio_apiserver.registry.generic.access.signing_keys import Keys, PrivateKey, PublicKey, SigningKeys, VerifyingKey

_SIGNING_KEY = "service-account.key"
_VERIFYING_KEYS = "service-account.pub"


def of(settings: Settings) -> SigningKeys:
    """The keys of the flags, read now. Without flags, the server's own key, made at its first use."""
    signing_file, verifying_files = settings.service_account_signing_key_file, settings.service_account_key_file
    if are_own(settings):
        return SigningKeys(partial(_own, settings.pki_dir))
    verifying: list[PublicKey] = [key for path in verifying_files for key in _public(Path(path))]
    if signing_file is None:
        keys = Keys(None, [VerifyingKey(key) for key in verifying])
    else:
        keys = signing_keys.of(_private(signing_file), verifying)
    return SigningKeys(lambda: keys)


def are_own(settings: Settings) -> bool:
    """Whether the keys are the server's own: no flag names a file."""
    return settings.service_account_signing_key_file is None and not settings.service_account_key_file


def own_key(directory: Path) -> str:
    """The signing key in the directory as PEM; a new one when there is none."""
    private_files.make_private(directory)
    with private_files.locked(directory):
        return _signing_key(directory).read_text()


def new_key() -> str:
    """A new signing key as PEM, in no directory."""
    return _pem(signing_keys.new_key()).decode()


def put_keys(directory: Path, signing: str, verifying: Sequence[str]) -> bool:
    """Replace the signing key in the directory, and the keys that verify. Returns whether a file has changed."""
    private_files.make_private(directory)
    with private_files.locked(directory):
        changed = private_files.put_changed(directory / _SIGNING_KEY, signing.encode())
        return private_files.put_changed(directory / _VERIFYING_KEYS, b"".join(map(_public_pem, verifying))) or changed


def _public(path: Path) -> list[PublicKey]:
    try:
        return signing_keys.parse_public(path.read_bytes())
    except ValueError as exc:
        raise ValueError(f"--service-account-key-file {path}: {exc}") from exc


def _private(path: Path) -> PrivateKey:
    try:
        return signing_keys.parse_private(path.read_bytes())
    except ValueError as exc:
        raise ValueError(f"--service-account-signing-key-file {path}: {exc}") from exc


def _own(directory: Path) -> Keys:
    """The keys in the directory. All processes with this directory share them."""
    with private_files.locked(directory):
        verifying = directory / _VERIFYING_KEYS
        return signing_keys.of(_private(_signing_key(directory)), _public(verifying) if verifying.exists() else ())


def _signing_key(directory: Path) -> Path:
    path = directory / _SIGNING_KEY
    if not path.exists():
        private_files.put(path, _pem(signing_keys.new_key()))
    return path


def _public_pem(private: str) -> bytes:
    key = signing_keys.parse_private(private.encode()).public_key()
    return key.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)


def _pem(key: PrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
