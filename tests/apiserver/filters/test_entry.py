import re

from aiohttp import web

from aio_apiserver.apiserver.filters import entry
from aio_apiserver.apiserver.wire import responses
from aio_apiserver.apiserver.wire.context import RequestContext
from tests.apiserver.serving import ask, listening

UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")


async def show(_request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
    return responses.text(context, context.audit_id)


async def test_every_request_gets_an_id_of_its_own() -> None:
    async with listening(show) as listener:
        answers = [await ask(listener.port, "/") for _ in range(2)]

    ids = [answer.headers["audit-id"] for answer in answers]
    assert all(UUID.fullmatch(each) for each in ids)
    assert [answer.text for answer in answers] == ids
    assert ids[0] != ids[1]


async def test_a_client_may_choose_it() -> None:
    async with listening(show) as listener:
        answer = await ask(listener.port, "/", headers={"Audit-ID": "my-audit-id"})

    assert answer.headers["audit-id"] == answer.text == "my-audit-id"


def test_new_ids_are_uuids_that_differ() -> None:
    ids = {entry.new_id() for _ in range(1000)}

    assert len(ids) == 1000
    assert all(UUID.fullmatch(each) for each in ids)
