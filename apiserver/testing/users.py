"""Users: somebody else than the administrator, so that a test sees what an operator may do with its roles.

    operator = server.user("system:serviceaccount:ops:operator")
    operator.clients.kubernetes()

They are known by a certificate that the server's CA has signed, which every client library can show. Must hold: nobody
has to be made first, and nobody has a right that no role gives.
"""

import ssl
from collections.abc import Sequence
from pathlib import Path

import msgspec

from aio_apiserver.apiserver.server import Server as Running
from aio_apiserver.apiserver.testing.client import Client
from aio_apiserver.apiserver.testing.clients import Clients
from aio_apiserver.apiserver.tls import certificates, kubeconfig
from aio_apiserver.apiserver.tls.certificates import KeyPair
from aio_apiserver.registry.generic.access.users import service_account_groups, split_service_account


class User(msgspec.Struct, frozen=True):
    """Of one server."""

    name: str
    kubeconfig: Path
    """A file with the user's credentials."""
    certificate: KeyPair
    _port: int
    _authority: Path

    @property
    def clients(self) -> Clients:
        """Ready clients of the libraries that are installed."""
        return Clients(self.kubeconfig)

    def client(self) -> Client:
        """A connection for plain requests."""
        tls = ssl.create_default_context(cafile=self._authority)
        tls.load_cert_chain(self.certificate.certificate, self.certificate.key)
        return Client(self._port, tls, "")


def of(running: Running, name: str, groups: Sequence[str]) -> User:
    """A user of a server that runs."""
    pki, directory = running.pki, running.settings.pki_dir
    pair = certificates.of_client(directory, name, [*_own_groups(name), *groups], running.parts.clock.patience)
    path = pair.certificate.with_suffix(".kubeconfig")
    kubeconfig.write(path, running.url, msgspec.structs.replace(pki, admin=pair), authority=pki.authority)
    return User(name, path, pair, running.secure.port, pki.authority)


def _own_groups(name: str) -> Sequence[str]:
    account = split_service_account(name)
    return service_account_groups(account[0]) if account is not None else ()
