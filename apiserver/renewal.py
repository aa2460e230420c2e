"""Renewal: renews the certificates of the server before they expire, and reloads certificate files that changed.

Every hour it renews certificates that are about to expire. Changed files, also the operator's, are loaded without a
restart.

Must hold: open connections keep their certificates. A failure changes nothing, is logged, and is retried.
"""

import asyncio
import logging
from collections.abc import Iterator
from contextlib import AsyncExitStack
from functools import partial

from aio_apiserver.apiserver.access import assembly
from aio_apiserver.apiserver.access.assembly import Access
from aio_apiserver.apiserver.config.settings import Settings
from aio_apiserver.apiserver.outgoing.backends import Backends, kubelet_files
from aio_apiserver.apiserver.replicas.shared_files import Renew, SharedFiles
from aio_apiserver.apiserver.tls import certificates, contexts, kubeconfig, reloading
from aio_apiserver.apiserver.tls.certificates import Pki
from aio_apiserver.apiserver.tls.certified_users import CertifiedUsers
from aio_apiserver.apiserver.tls.contexts import ServingTLS
from aio_apiserver.apiserver.tls.reloading import Contents, Reloaded, Reloading
from aio_apiserver.base.clock import Clock
from aio_apiserver.base.tasks import Tasks
from aio_apiserver.registry.base.root_certificates import RootCertificates

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
    proxy_certificate: Reloaded,
    clock: Clock,
    stack: AsyncExitStack,
    shared: SharedFiles | None,
    root_certificates: RootCertificates,
) -> Reloading:
    """Write the kubeconfig file, and watch all files from now on. Raises OSError.

    shared: the files that all replicas share. Each change of them is taken over at once, and root_certificates gets the
    new bundle.
    """
    write_kubeconfig(settings, pki, url)
    of_server = reloaded(settings, pki, url, serving, access.certified, root_certificates)
    files = Reloading(
        [of_server, *reloaded_for_kubelets(settings, backends), proxy_certificate, *access.reloaded], clock.patience
    )
    tasks = Tasks()
    stack.push_async_callback(tasks.close)
    tasks.spawn(files.run(), name="reload files")
    renew = partial(_renew, settings, url, files, access=access, clock=clock.patience)
    tasks.spawn(run(renew, clock.patience), name="certificate renewal")
    if shared is not None:
        tasks.spawn(shared.run(renew), name="follow shared secrets")
    return files


def reloaded(
    settings: Settings,
    pki: Pki,
    url: str,
    serving: ServingTLS,
    certified: CertifiedUsers,
    root_certificates: RootCertificates,
) -> Reloaded:
    """The certificates of the secure port and the certificate authorities of its clients. Raises OSError."""
    paths = contexts.files(settings, pki)

    async def take_over(_contents: Contents) -> None:
        trusted = assembly.trusted(settings, pki)
        serving.load(pki)
        certified.trusted = trusted
        write_kubeconfig(settings, pki, url)
        root_certificates.replace(contexts.authority(settings, pki).read_text())

    return Reloaded("certificates", paths, take_over, reloading.read(paths))


def reloaded_for_kubelets(settings: Settings, backends: Backends) -> Iterator[Reloaded]:
    """The client certificate for kubelets and their certificate authority. Raises OSError."""
    if not (paths := kubelet_files(settings)):
        return

    async def take_over(_contents: Contents) -> None:
        backends.renew()

    yield Reloaded("certificates for kubelets", paths, take_over, reloading.read(paths))


def write_kubeconfig(settings: Settings, pki: Pki, url: str) -> None:
    """Write the administrator's kubeconfig file. An old one stays on a full or read-only disk. Raises OSError."""
    path = settings.kubeconfig_file
    try:
        kubeconfig.write(path, url, pki, authority=contexts.authority(settings, pki))
    except OSError as exc:
        if not path.exists():
            raise
        advice = "it may name another address or certificate: make room, then run `apiserver kubeconfig` or start again"
        logger.warning("cannot refresh %s, %s: %s", path, advice, exc.strerror or exc)


async def run(renew: Renew, clock: Clock) -> None:
    """Keep the server's certificates and the kubeconfig file valid, until it is cancelled."""
    while True:
        await clock.sleep(PAUSE)
        await renew()


async def _renew(settings: Settings, url: str, files: Reloading, *, access: Access, clock: Clock) -> None:
    """Renew the certificates that are near their end, and reload the files that have changed."""
    try:
        pki = await asyncio.to_thread(certificates.ensure, settings.pki_dir, contexts.hosts(settings), clock)
        write_kubeconfig(settings, pki, url)
        access.renew(pki)
    except (OSError, ValueError):
        logger.exception("cannot renew certificates")
    await files.check()
