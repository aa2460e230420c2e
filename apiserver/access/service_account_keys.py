"""Service account keys: the keys of the flags, or a key of the server's own in its certificate directory."""

import fcntl
from functools import partial
from pathlib import Path

from cryptography.hazmat.primitives import serialization

from aio_apiserver.apiserver.config.settings import Settings
from aio_apiserver.apiserver.tls import files
from aio_apiserver.registry.generic.access import signing_keys
from aio_apiserver.registry.generic.access.signing_keys import Keys, PrivateKey, PublicKey, SigningKeys, VerifyingKey

_SIGNING_KEY = "service-account.key"


def of(settings: Settings) -> SigningKeys:
    """The keys of the flags, read now. Without flags, the server's own key, made at its first use."""
    signing_file, verifying_files = settings.service_account_signing_key_file, settings.service_account_key_file
    if signing_file is None and not verifying_files:
        return SigningKeys(partial(_own, settings.pki_dir))
    verifying: list[PublicKey] = [key for path in verifying_files for key in _public(Path(path))]
    if signing_file is None:
        keys = Keys(None, [VerifyingKey(key) for key in verifying])
    else:
        keys = signing_keys.of(_private(signing_file), verifying)
    return SigningKeys(lambda: keys)


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
    """The key in the directory. All processes with this directory share it."""
    path = directory / _SIGNING_KEY
    with (directory / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not path.exists():
            files.put(path, _pem(signing_keys.new_key()))
        return signing_keys.of(_private(path))


def _pem(key: PrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
