"""Shared files: SharedFiles, which keeps the files in --cert-dir equal to the secrets that all replicas share in etcd.

Everything else in the server reads the files, so renewal, reloading and the kubeconfig file need to know no etcd.

Must hold: the server is not ready before it has the shared secrets. While etcd does not answer, the files stay.
"""

import asyncio
import logging
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

from aio_apiserver.apiserver.config.settings import Settings
from aio_apiserver.apiserver.replicas.key_ring import LOOK_SECONDS, KeyRing
from aio_apiserver.apiserver.replicas.shared_keys import SharedKey, shared_keys
from aio_apiserver.base.clock import Clock
from aio_apiserver.storage.errors import InvalidOptions, StorageError, Unauthenticated, Unavailable
from aio_apiserver.storage.factory.shared_secrets import SharedSecrets

logger = logging.getLogger(__name__)

_RETRY_SECONDS = 0.5
_START_SECONDS = 2.0
"""A start waits no longer for etcd: the ports open, so that probes are told what is missing."""

Renew = Callable[[], Awaitable[None]]
"""Takes over what the files have now."""


class SharedFiles:
    """The files of one server."""

    def __init__(self, secrets: SharedSecrets, keys: Sequence[SharedKey], clock: Clock) -> None:
        self._secrets = secrets
        self._keys = keys
        self._clock = clock
        self._settled = asyncio.Event()
        self._has_changed = False
        self._problem = ""

    async def wait_until_settled(self) -> None:
        """Return when the files are those of all replicas."""
        await self._settled.wait()

    async def settle(self) -> None:
        """Bring the files up to date. Raises StorageError, ValueError, OSError."""
        for key in self._keys:
            await self._settle(key)
        self._settled.set()

    async def run(self, renew: Renew) -> None:
        """Keep the files up to date, and call `renew` after each change, for ever."""
        self._has_changed = not self._settled.is_set()
        while True:
            await self._pause()
            await self._look()
            while self._has_changed:
                self._has_changed = False
                await renew()
                await self._look()  # what had to wait until the rest was renewed

    async def _look(self) -> None:
        try:
            await self.settle()
            self._problem = ""
        except (StorageError, OSError, ValueError) as exc:
            self._report(str(exc))

    async def _pause(self) -> None:
        if self._settled.is_set():
            await self._clock.sleep(LOOK_SECONDS)
        else:
            await self._clock.patience.sleep(_RETRY_SECONDS)

    async def _settle(self, key: SharedKey) -> None:
        ring = KeyRing.parse(await self._secrets.update(key.name, partial(self._chosen, key)))
        if await asyncio.to_thread(key.put, ring, self._clock.now()):
            self._has_changed = True
            logger.info("using the %s that all replicas on this etcd share", key.title)

    async def _chosen(self, key: SharedKey, present: bytes | None) -> bytes:
        """The stored ring, or a new one when there is none or when its newest secret ends."""
        if present is not None and not key.is_ending(KeyRing.parse(present).newest.secret):
            return present
        return KeyRing.of(await asyncio.to_thread(key.own), self._clock.now()).dump()

    def _report(self, problem: str) -> None:
        """Log a problem once, until it is another one."""
        if problem != self._problem:
            logger.warning("the keys that all replicas share cannot be read, nothing changes: %s", problem)
        self._problem = problem


@asynccontextmanager
async def in_temporary_directory(settings: Settings, secrets: SharedSecrets, clock: Clock) -> AsyncIterator[Settings]:
    """Settings whose --cert-dir is a temporary directory with the shared keys, for a command without files of a server.

    Raises InvalidOptions when no server has shared keys yet, StorageError.
    """
    with tempfile.TemporaryDirectory() as directory:
        filled = settings.model_copy(update={"cert_dir": Path(directory)})
        for key in shared_keys(filled, clock):
            ring = KeyRing.parse(await secrets.update(key.name, partial(_existing, key)))
            await asyncio.to_thread(key.put, ring, clock.now())
        yield filled


async def _existing(key: SharedKey, present: bytes | None) -> bytes:
    if present is None:
        raise InvalidOptions(f"no server has shared a {key.title} on this etcd yet; is --etcd-prefix the servers'?")
    return present


async def open_shared_files(settings: Settings, secrets: SharedSecrets | None, clock: Clock) -> SharedFiles | None:
    """Fill the files, if etcd answers. None for an embedded store. Raises StorageError, ValueError, OSError."""
    if secrets is None:
        return None
    shared = SharedFiles(secrets, shared_keys(settings, clock), clock)
    try:
        async with asyncio.timeout(_START_SECONDS):
            await shared.settle()
    except (Unavailable, Unauthenticated, TimeoutError) as exc:
        reason = str(exc) or "no answer yet"
        logger.warning("the keys that all replicas share are read as soon as etcd answers: %s", reason)
    return shared
