"""root_certificates: the CA bundle with which clients verify the server, which a rotation replaces while it runs.

Must hold: a waiter that begins to wait before a replacement sees it.
"""

import asyncio


class RootCertificates:
    """The present bundle, as PEM."""

    def __init__(self, bundle: str = "") -> None:
        self.bundle = bundle
        self._replaced = asyncio.Event()

    def replace(self, bundle: str) -> None:
        """Take over another bundle, and wake the waiters."""
        if bundle == self.bundle:
            return
        self.bundle = bundle
        replaced, self._replaced = self._replaced, asyncio.Event()
        replaced.set()

    async def wait_until_replaced(self) -> None:
        """Return at the next replacement."""
        await self._replaced.wait()
