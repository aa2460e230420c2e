"""Deferred: a Python module that is imported at the first use of one of its attributes.

A server starts faster when rarely used modules are not imported at the start.

    if TYPE_CHECKING:
        from aio_apiserver.registry.generic.expressions import admission
    else:
        admission = Deferred("aio_apiserver.registry.generic.expressions.admission")

Must hold: an attribute is the one of the real module, and the proxy looks it up once.
"""

import importlib
from types import ModuleType


class Deferred:
    """A proxy that imports the module when the first attribute is read."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> object:
        value: object = getattr(importlib.import_module(self._name), attribute)
        setattr(self, attribute, value)
        return value


def load(module: ModuleType | Deferred) -> None:
    """Import a deferred module now, such as in a thread, so that its first use does not hold the event loop."""
    if isinstance(module, Deferred):
        importlib.import_module(module._name)
