"""watch_responses: WatchResponse, the response of a watch, which goes on when its handler has returned.

A watch lasts for minutes, and a server has thousands of them. The frames of the filter chain and its contexts would
take five kilobytes for each. So the handler returns when the watch has begun, and the connection waits for the end.

A filter that has something to do at the end gives it to `when_ended`. A filter that needs its own frame until then
waits in `until_ended`. All other responses have ended when the handler returns.

Must hold: what was given to `when_ended` is done once, also when the client disconnects.
"""

from collections.abc import Awaitable, Callable

from aiohttp import web
from multidict import CIMultiDict


class WatchResponse(web.StreamResponse):
    """The response of one watch. `rest`: sends events until the watch ends."""

    def __init__(self, headers: CIMultiDict[str], rest: Callable[[], Awaitable[None]]) -> None:
        super().__init__(headers=headers)
        self._rest: Callable[[], Awaitable[None]] | None = rest
        self._endings: list[Callable[[], None]] = []
        self.has_ended = False
        """Whether no more events follow."""

    def at_end(self, act: Callable[[], None]) -> None:
        """Call `act` when the watch has ended."""
        self._endings.append(act)

    async def until_ended(self) -> None:
        """Send events, and return when the watch has ended. Only the first call has something to send."""
        if self._rest is None:
            return
        following, self._rest = self._rest(), None
        try:
            await following
        finally:
            self.has_ended = True
            endings, self._endings = self._endings, []
            for act in endings:
                act()


def when_ended(response: web.StreamResponse, act: Callable[[], None]) -> None:
    """Call `act` when no more events of a watch follow; at once for other responses."""
    if isinstance(response, WatchResponse) and not response.has_ended:
        response.at_end(act)
    else:
        act()


async def until_ended(response: web.StreamResponse) -> None:
    """Send the events of a watch, and return behind them; at once for other responses."""
    if isinstance(response, WatchResponse):
        await response.until_ended()
