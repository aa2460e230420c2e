"""Shared keys: the table of secrets that all replicas have in common, and the files in --cert-dir that each one fills.

Knows files, not etcd. A flag that names files of the operator's takes its secret out of the table.

Must hold: the first replica shares the keys that its directory has already, so clients of a server that becomes a
replica go on trusting it. Every file has the name that the rest of the server reads.
"""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from msgspec import Struct

from aio_apiserver.apiserver.access import service_account_keys
from aio_apiserver.apiserver.config.settings import Settings
from aio_apiserver.apiserver.replicas.key_ring import KeyRing
from aio_apiserver.apiserver.tls import certificates
from aio_apiserver.base.clock import Clock


def _never(_secret: str) -> bool:
    return False


class SharedKey(Struct, frozen=True, kw_only=True):
    """One of the shared secrets. name: in etcd and on the command line. title: in logs.

    own: the secret of the directory. new: another one. put: fills the files; returns whether one has changed.
    is_ending: whether a secret has to be replaced.
    """

    name: str
    title: str
    own: Callable[[], str]
    new: Callable[[], str]
    put: Callable[[KeyRing, float], bool]
    is_ending: Callable[[str], bool] = _never


def shared_keys(settings: Settings, clock: Clock) -> Sequence[SharedKey]:
    """Those of a server with these settings."""
    directory = settings.pki_dir
    of_certificates = SharedKey(
        name="ca",
        title="certificate authority",
        own=partial(certificates.own_ca, directory, clock),
        new=partial(certificates.new_ca, clock),
        put=partial(_put_cas, directory),
        is_ending=partial(certificates.is_ending, clock=clock),
    )
    of_administrator = SharedKey(
        name="admin-token",
        title="administrator's token",
        own=partial(certificates.own_token, directory),
        new=certificates.new_token,
        put=partial(_put_tokens, directory),
    )
    of_service_accounts = SharedKey(
        name="service-account-key",
        title="service account key",
        own=partial(service_account_keys.own_key, directory),
        new=service_account_keys.new_key,
        put=partial(_put_service_account_keys, directory),
    )
    always = (of_certificates, of_administrator)
    return (*always, of_service_accounts) if service_account_keys.are_own(settings) else always


def _put_cas(directory: Path, ring: KeyRing, now: float) -> bool:
    """The oldest CA signs serving certificates until the rotation is finished: old clients know no other one."""
    return certificates.put_cas(directory, ring.secrets[::-1], of_clients=ring.used(now))


def _put_tokens(directory: Path, ring: KeyRing, now: float) -> bool:
    return certificates.put_tokens(directory, ring.used(now), ring.secrets)


def _put_service_account_keys(directory: Path, ring: KeyRing, now: float) -> bool:
    return service_account_keys.put_keys(directory, ring.used(now), ring.secrets)
