"""Renewal: a server that runs for years goes on with certificates that last for one.

Looks every hour whether the server's own certificates are near their end; they and those of the operator are taken over
as soon as their files are others. Must hold: connections that are open keep what they have; a failure leaves everything
as it was, is logged, and is tried again.
"""

import asyncio
import logging
from collections.abc import Iterator
from contextlib import AsyncExitStack

from aio_apiserver.apiserver.access import assembly
from aio_apiserver.apiserver.access.assembly import Access
from aio_apiserver.apiserver.config.settings import Settings
from aio_apiserver.apiserver.outgoing.backends import Backends, kubelet_files
from aio_apiserver.apiserver.tls import certificates, contexts, kubeconfig, reloading
from aio_apiserver.apiserver.tls.certificates import Pki
from aio_apiserver.apiserver.tls.certified_users import CertifiedUsers
from aio_apiserver.apiserver.tls.contexts import ServingTLS
from aio_apiserver.apiserver.tls.reloading import Contents, Reloaded, Reloading
from aio_apiserver.storage.clock import Clock
from aio_apiserver.storage.tasks import Tasks

logger = logging.getLogger(__name__)

PAUSE = 3600.0


def open_renewal(
    settings: Settings,
    pki: Pki,
    *,
    url: str,
    serving: ServingTLS,
    access: Access,
    backends: Backends,
    clock: Clock,
    stack: AsyncExitStack,
) -> Reloading:
    """Write the kubeconfig file, and look at all files again from now on. Raises OSError."""
    write_kubeconfig(settings, pki, url)
    of_server = reloaded(settings, pki, url, serving, access.certified)
    files = Reloading([of_server, *reloaded_for_kubelets(settings, backends), *access.reloaded], clock.patience)
    tasks = Tasks()
    stack.push_async_callback(tasks.close)
    tasks.spawn(files.run(), name="reload files")
    tasks.spawn(run(settings, url, files, clock.patience), name="certificate renewal")
    return files


def reloaded(settings: Settings, pki: Pki, url: str, serving: ServingTLS, certified: CertifiedUsers) -> Reloaded:
    """What the secure port shows and believes, and what administrators believe. Raises OSError."""
    paths = contexts.files(settings, pki)

    async def take_over(_contents: Contents) -> None:
        trusted = assembly.trusted(settings, pki)
        serving.load(pki)
        certified.trusted = trusted
        write_kubeconfig(settings, pki, url)

    return Reloaded("certificates", paths, take_over, reloading.read(paths))


def reloaded_for_kubelets(settings: Settings, backends: Backends) -> Iterator[Reloaded]:
    """What kubelets are shown, and who is believed to be one. Raises OSError."""
    if not (paths := kubelet_files(settings)):
        return

    async def take_over(_contents: Contents) -> None:
        backends.renew()

    yield Reloaded("certificates for kubelets", paths, take_over, reloading.read(paths))


def write_kubeconfig(settings: Settings, pki: Pki, url: str) -> None:
    """Tell the administrator how to get in. Raises OSError."""
    kubeconfig.write(settings.kubeconfig_file, url, pki, authority=contexts.authority(settings, pki))


async def run(settings: Settings, url: str, files: Reloading, clock: Clock) -> None:
    """Keep the server's own certificates, and the kubeconfig file, up to date for ever."""
    while True:
        await clock.sleep(PAUSE)
        try:
            pki = await asyncio.to_thread(certificates.ensure, settings.pki_dir, contexts.hosts(settings), clock)
            write_kubeconfig(settings, pki, url)
        except (OSError, ValueError):
            logger.exception("certificates cannot be renewed")
        await files.check()
