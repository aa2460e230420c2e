"""Errands: what libraries do by themselves when they are imported, and what this program has no use for.

aiohttp reads the certificate authorities of the system, which takes 30 ms and 2 MB: whatever here trusts
them reads them when it does. pydantic looks for plugins in all packages that are installed.

Must hold: only the program asks for this, whose process is its own; whoever imports the server into another process,
as tests do, gets the libraries as they are.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager

_NO_AUTHORITIES = {"SSL_CERT_FILE": os.devnull, "SSL_CERT_DIR": os.devnull}


def leave_out_plugins() -> None:
    """Let pydantic do without plugins, from now on."""
    os.environ["PYDANTIC_DISABLE_PLUGINS"] = "true"


@contextmanager
def without_system_authorities() -> Iterator[None]:
    """Let what is imported inside find no certificate authorities of the system."""
    before = {name: os.environ.get(name) for name in _NO_AUTHORITIES}
    os.environ.update(_NO_AUTHORITIES)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
