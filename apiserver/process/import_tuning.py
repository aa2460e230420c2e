"""Import tuning: prevents costly work of aiohttp and pydantic at import time.

aiohttp loads the certificate authorities of the system, which takes 30 ms and 2 MB; our code loads them where it trusts
them. pydantic searches all installed packages for plugins.

Must hold: the command line calls this, in a process of its own. A test that imports the server gets the libraries
unchanged.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager

_NO_AUTHORITIES = {"SSL_CERT_FILE": os.devnull, "SSL_CERT_DIR": os.devnull}


def leave_out_plugins() -> None:
    """Disable pydantic's plugins in this process."""
    os.environ["PYDANTIC_DISABLE_PLUGINS"] = "true"


@contextmanager
def without_system_authorities() -> Iterator[None]:
    """Hide the certificate authorities of the system from imports in this block."""
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
