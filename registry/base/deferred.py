"""Modules that are loaded when they are first used: rules that few servers ask, which a start should not wait for.

    if TYPE_CHECKING:
        from aio_apiserver.registry.cel import admission
    else:
        admission = Deferred("aio_apiserver.registry.machinery.cel.admission")

Must hold: whoever reads an attribute gets the module's own; it is looked up once.
"""

import importlib


class Deferred:
    """Stands for a module until something of it is asked for."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> object:
        value: object = getattr(importlib.import_module(self._name), attribute)
        setattr(self, attribute, value)
        return value
