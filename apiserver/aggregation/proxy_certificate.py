"""proxy_certificate: the client certificate of --proxy-client-cert-file, which the server shows to aggregated servers.

Must hold: a renewed certificate is shown on the next connection. Files that do not fit together change nothing.
"""

from aio_apiserver.apiserver.config.settings import Settings
from aio_apiserver.apiserver.tls import bundles, reloading
from aio_apiserver.apiserver.tls.reloading import Contents, Reloaded


class ProxyCertificate:
    """The certificate in force. `pem` has its key behind it, and is empty without the flags."""

    def __init__(self, settings: Settings) -> None:
        """Raises OSError, ValueError."""
        files = (settings.proxy_client_cert_file, settings.proxy_client_key_file)
        paths = list(filter(None, files))
        contents = reloading.read(paths)
        self.pem = _pem(contents)
        self.reloaded = Reloaded("proxy client certificate", paths, self._take_over, contents)

    async def _take_over(self, contents: Contents) -> None:
        self.pem = _pem(contents)


def _pem(contents: Contents) -> str:
    """Raises OSError when the key does not fit the certificate, ValueError when they are not text."""
    pem = b"\n".join(contents).decode()
    if pem:
        bundles.show(pem, bundles.unverified())
    return pem
