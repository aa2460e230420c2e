"""testing: the public names of the test server and its tools. docs/testing.md says how to use them.

pytest loads the plugin wherever this project is installed, so this module loads nothing by itself. Each name loads its
own module.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aio_apiserver.apiserver.testing import golden
    from aio_apiserver.apiserver.testing.client import Refused as Refused
    from aio_apiserver.apiserver.testing.reviews import Denied as Denied
    from aio_apiserver.apiserver.testing.reviews import Review as Review
    from aio_apiserver.apiserver.testing.server import Server as Server

_PLACES = {
    "Denied": ("reviews", "Denied"),
    "Refused": ("client", "Refused"),
    "Review": ("reviews", "Review"),
    "Server": ("server", "Server"),
    "golden": ("golden", None),
}
"""The module of each name, and its name there; None: the module itself."""

__all__ = ["Denied", "Refused", "Review", "Server", "golden"]


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, attribute = _PLACES[name]
    loaded = import_module(f"aio_apiserver.apiserver.testing.{module}")
    return loaded if attribute is None else getattr(loaded, attribute)
