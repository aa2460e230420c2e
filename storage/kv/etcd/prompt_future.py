"""prompt_future: PromptFuture, a future whose waiter goes on as soon as there is a result.

asyncio puts the waiter of a future behind all that waits for the event loop. Beside writes, that takes a read as long
as etcd's answer does. Here the waiter goes on within the callback that has read the answer.

Must hold: results are set in callbacks of the event loop, as a task cannot go on while another one runs. Failures and
cancellations take asyncio's way.
"""

import asyncio
from collections.abc import Callable
from contextvars import Context
from typing import Any

_Waiter = Callable[[Any], object]


class PromptFuture(asyncio.Future[bytes]):
    """A future for one waiter: a task that awaits it."""

    _waiter: tuple[_Waiter, Context] | None = None

    def add_done_callback(self, fn: _Waiter, /, *, context: Context | None = None) -> None:
        """asyncio calls this when a task awaits the future."""
        if context is not None and not self.done():
            self._waiter = fn, context
        super().add_done_callback(fn, context=context)

    def set_result(self, result: bytes, /) -> None:
        """Set the result, and let the waiter go on."""
        waiter = self._waiter
        if waiter is None:
            super().set_result(result)
            return
        go_on, context = waiter
        self.remove_done_callback(go_on)
        super().set_result(result)
        context.run(go_on, self)
