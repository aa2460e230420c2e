"""backends: the client of kubelets, pods and services in the cluster.

Must hold: the server shows its client certificate (--kubelet-client-certificate) to kubelets alone. It verifies a
kubelet when it has --kubelet-certificate-authority; pods and services have certificates that no known CA signs.
"""

import ssl
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from aio_apiserver.apiserver.config.settings import Settings
from aio_apiserver.apiserver.outgoing import forwarded_headers, guarded
from aio_apiserver.apiserver.outgoing.dialer import Dialer, Peer
from aio_apiserver.apiserver.outgoing.guarded import Lookup
from aio_apiserver.apiserver.outgoing.relay_client import RelayClient
from aio_apiserver.apiserver.tls import bundles
from aio_apiserver.apiserver.tls.certificates import KeyPair
from aio_apiserver.registry.base.locations import Location

SIMULATED_KUBELET_CLIENT = "simulated-kubelet-client"
"""The common name of the certificate that servers show to simulated kubelets."""
_LOOPBACK = "127.0.0.1"


class Backends(RelayClient):
    """The connections to the locations that the registry returns."""

    def __init__(self, settings: Settings, *, lookup: Lookup = guarded.system_lookup) -> None:
        super().__init__(Dialer(settings.kubelet_timeout, lookup=lookup), forwarded_headers.of(settings), self._peer)
        self._settings = settings
        self._kubelets: dict[bool, ssl.SSLContext] = {}
        """The TLS contexts for kubelets, by whether their certificates are verified; made with the first request."""
        self._simulated: ssl.SSLContext | None = None

    async def close(self) -> None:
        """Close every connection."""
        await self._dialer.close()

    def renew(self) -> None:
        """Load the certificates for kubelets from their files again. Raises OSError, and then changes nothing."""
        verified, unverified = self._of_kubelet(is_verified=True), self._of_kubelet(is_verified=False)
        self._kubelets = {True: verified, False: unverified}

    def show_to_simulated_kubelets(self, client: KeyPair) -> None:
        """Show a certificate to kubelets on loopback, which are those of simulated nodes."""
        context = bundles.unverified()
        context.load_cert_chain(client.certificate, client.key)
        self._simulated = context

    def _peer(self, location: Location) -> Peer:
        return Peer(self._tls(location))

    def _tls(self, location: Location) -> ssl.SSLContext | None:
        if location.scheme != "https":
            return None
        if not location.is_kubelet:
            return self._unverified
        if self._simulated is not None and location.host == _LOOPBACK:
            return self._simulated
        if not self._kubelets:
            self.renew()
        return self._kubelets[location.is_verified]

    @cached_property
    def _unverified(self) -> ssl.SSLContext:
        """For pods and services, whose certificate authorities the server does not know."""
        return bundles.unverified()

    def _of_kubelet(self, *, is_verified: bool) -> ssl.SSLContext:
        settings = self._settings
        authority = settings.kubelet_certificate_authority if is_verified else None
        context = bundles.unverified() if authority is None else bundles.trusting(authority.read_text())
        if settings.kubelet_client_certificate is not None:
            context.load_cert_chain(settings.kubelet_client_certificate, settings.kubelet_client_key)
        return context


def kubelet_files(settings: Settings) -> Sequence[Path]:
    """The certificate files for connections to kubelets."""
    given = (
        settings.kubelet_client_certificate,
        settings.kubelet_client_key,
        settings.kubelet_certificate_authority,
    )
    return list(filter(None, given))
