"""Fault contexts: a fault that holds while a `with` block runs.

Must hold: a context that no `with` block has entered warns, because its fault has no effect.
"""

import warnings
from collections.abc import Callable
from contextlib import ContextDecorator
from types import TracebackType

from aio_apiserver.testing.bench.faults import ActiveFault


class FaultContext(ContextDecorator):
    """Injects a fault at the beginning of a `with` block, and withdraws it at the end."""

    def __init__(self, name: str, inject: Callable[[], ActiveFault], withdraw: Callable[[ActiveFault], object]) -> None:
        self._name = name
        self._inject = inject
        self._withdraw = withdraw
        self._open: list[ActiveFault] = []
        self._is_used = False

    def __enter__(self) -> ActiveFault:
        self._is_used = True
        active = self._inject()
        self._open.append(active)
        return active

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._withdraw(self._open.pop())

    def __del__(self) -> None:
        if not self._is_used:
            message = (
                f"the fault {self._name} was never injected: write `with server.fault(...):`, or server.inject(...)"
            )
            warnings.warn(message, RuntimeWarning, source=self, stacklevel=1)
