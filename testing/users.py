"""Users: users other than the administrator, so that a test sees what the roles of an operator allow.

    operator = server.user("system:serviceaccount:ops:operator")
    operator.clients.kubernetes()

A user has a client certificate signed by the server's CA, which every client library can use. Must hold: a user needs
no object in the server, and has the rights that roles give it.
"""

import ssl
from collections.abc import Sequence
from pathlib import Path

import msgspec

from aio_apiserver.apiserver.server import Server as Running
from aio_apiserver.apiserver.tls import certificates, kubeconfig
from aio_apiserver.apiserver.tls.certificates import KeyPair
from aio_apiserver.registry.generic.access.users import service_account_groups, split_service_account
from aio_apiserver.testing.client import BlockingClient
from aio_apiserver.testing.client_libraries import Clients

_LONGEST_NAME = 64
"""Of a common name in a certificate."""


class User(msgspec.Struct, frozen=True):
    """A user of one server."""

    name: str
    kubeconfig: Path
    """A kubeconfig file with the user's credentials."""
    certificate: KeyPair
    _port: int
    _authority: Path

    @property
    def clients(self) -> Clients:
        """Ready clients of the installed libraries."""
        return Clients(self.kubeconfig)

    def client(self) -> BlockingClient:
        """A connection for plain requests."""
        tls = ssl.create_default_context(cafile=self._authority)
        tls.load_cert_chain(self.certificate.certificate, self.certificate.key)
        return BlockingClient(self._port, tls, "")


def of(running: Running, name: str, groups: Sequence[str]) -> User:
    """A user of a running server. Raises ValueError."""
    if not 1 <= len(name) <= _LONGEST_NAME:
        raise ValueError(
            f"a user's name has 1 to {_LONGEST_NAME} characters, as in its certificate, and not {len(name)}"
        )
    pki, directory = running.pki, running.settings.pki_dir
    pair = certificates.of_client(directory, name, [*_own_groups(name), *groups], running.parts.clock.patience)
    path = pair.certificate.with_suffix(".kubeconfig")
    kubeconfig.write(path, running.url, msgspec.structs.replace(pki, admin=pair), authority=pki.authority)
    return User(name, path, pair, running.secure.port, pki.authority)


def _own_groups(name: str) -> Sequence[str]:
    account = split_service_account(name)
    return service_account_groups(account[0]) if account is not None else ()
