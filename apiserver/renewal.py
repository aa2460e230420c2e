"""Renewal: a server that runs for years goes on with certificates that last for one.

Looks every hour whether the server's own certificates are near their end, and reads those of the operator again. Must
hold: connections that are open keep what they have; a failure leaves everything as it was, is logged, and is tried
again.
"""

import asyncio
import logging
import ssl

from apiserver import certificates, kubeconfig, tls
from apiserver.settings import Settings
from storage.clock import Clock

logger = logging.getLogger(__name__)

PAUSE = 3600.0


async def run(settings: Settings, context: ssl.SSLContext, url: str, clock: Clock) -> None:
    """Keep the context of the secure port, and the kubeconfig file, up to date for ever."""
    while True:
        await clock.sleep(PAUSE)
        try:
            pki = await asyncio.to_thread(certificates.ensure, settings.pki_dir, tls.hosts(settings), clock)
            tls.load_files(context, settings, pki)
            kubeconfig.write(settings.kubeconfig_file, url, pki, authority=tls.authority(settings, pki))
        except (OSError, ValueError):
            logger.exception("certificates cannot be renewed")
