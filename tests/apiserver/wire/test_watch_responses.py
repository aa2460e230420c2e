"""A watch goes on when its handler has returned, and ends once."""

from functools import partial

import pytest
from aiohttp import web
from multidict import CIMultiDict

from aio_apiserver.apiserver.wire.watch_responses import WatchResponse, until_ended, when_ended


class Events:
    """The rest of a watch, and what is done at its end."""

    def __init__(self, failure: Exception | None = None) -> None:
        self.said: list[str] = []
        self._failure = failure
        self.response = WatchResponse(CIMultiDict(), self._send)
        when_ended(self.response, partial(self.said.append, "inner"))
        when_ended(self.response, partial(self.said.append, "outer"))

    async def _send(self) -> None:
        self.said.append("sent")
        if self._failure is not None:
            raise self._failure


async def test_the_end_of_a_watch_is_told_once_and_from_the_inside_out() -> None:
    events = Events()

    assert events.said == []
    await until_ended(events.response)
    await until_ended(events.response)

    assert events.said == ["sent", "inner", "outer"]


async def test_the_end_is_told_when_the_client_disconnects() -> None:
    events = Events(ConnectionResetError())

    with pytest.raises(ConnectionResetError):
        await until_ended(events.response)

    assert events.said == ["sent", "inner", "outer"]
    assert events.response.has_ended


async def test_a_filter_that_comes_behind_the_end_acts_at_once() -> None:
    events = Events()
    await until_ended(events.response)

    when_ended(events.response, partial(events.said.append, "late"))

    assert events.said[-1] == "late"


async def test_other_responses_have_ended_when_their_handler_returns() -> None:
    said: list[str] = []
    response = web.Response()

    when_ended(response, partial(said.append, "ended"))
    await until_ended(response)

    assert said == ["ended"]
