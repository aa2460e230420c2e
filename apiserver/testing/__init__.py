"""The test bench: real servers in the process of a test, faults on their wire, and their state to go back to.

pytest imports this package wherever it is installed: what a test run does not use is not loaded. docs/testing.md tells
how to use it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from apiserver.testing.reviews import Denied as Denied
    from apiserver.testing.reviews import Review as Review
    from apiserver.testing.server import Server as Server

_PLACES = {
    "Denied": "apiserver.testing.reviews",
    "Review": "apiserver.testing.reviews",
    "Server": "apiserver.testing.server",
}

__all__ = ["Denied", "Review", "Server"]


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_PLACES[name]), name)
