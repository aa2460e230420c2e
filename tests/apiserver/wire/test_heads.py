"""A head is what the header fields of a request say; a connection keeps it for requests with the same fields."""

import asyncio

import pytest
from aiohttp import web
from multidict import CIMultiDict, CIMultiDictProxy

from aio_apiserver.apiserver.wire.heads import NO_HEAD, RequestHead
from aio_apiserver.apiserver.wire.served_requests import ServedRequest
from tests.apiserver.serving import LOOPBACK, connecting

LONG = "x" * 9000


def head(**fields: str) -> RequestHead:
    named = {name.replace("_", "-"): value for name, value in fields.items()}
    raw = tuple((name.encode(), value.encode()) for name, value in named.items())
    return RequestHead(raw, CIMultiDictProxy(CIMultiDict(named)))


@pytest.mark.parametrize(
    ("authorization", "token", "is_misspelt"),
    [
        ("Bearer abc", "abc", False),
        ("  bearer abc", "abc", False),
        ("Bearer  abc", "", True),
        ("Bearer", "", False),
        ("Basic abc", "", False),
        ("", "", False),
    ],
)
def test_a_bearer_token_is_read_as_go_reads_it(authorization: str, token: str, *, is_misspelt: bool) -> None:
    found = head(Authorization=authorization)

    assert (found.token, found.is_misspelt) == (token, is_misspelt)


@pytest.mark.parametrize("name", ["Impersonate_User", "impersonate_extra_scopes", "IMPERSONATE_GROUP"])
def test_any_impersonation_field_is_noticed_in_any_case(name: str) -> None:
    assert head(**{name: "jane"}).is_impersonating
    assert not head(X_Impersonate_User="jane").is_impersonating


def test_fields_that_differ_in_the_length_of_the_body_fit_a_head() -> None:
    post = head(Host="h", Content_Length="10", Accept="*/*")

    assert post.fits(head(Host="h", Content_Length="11", Accept="*/*").raw)
    assert not post.fits(head(Host="h", Content_Length="10", Accept="text/html").raw)
    assert not post.fits(head(Host="other", Content_Length="10", Accept="*/*").raw)
    assert not post.fits(head(Host="h", Accept="*/*", Content_Length="10").raw)
    assert not post.fits(head(Host="h", Accept="*/*").raw)
    assert not head(Host="h").fits(head(Host="g").raw)


async def test_a_connection_keeps_a_short_head_for_requests_with_the_same_fields() -> None:
    seen: list[RequestHead] = []

    async def note(request: web.BaseRequest) -> web.StreamResponse:
        assert isinstance(request, ServedRequest)
        seen.append(request.head)
        return web.Response(body=b"")

    async with connecting(note) as listener:
        reader, writer = await asyncio.open_connection(LOOPBACK, listener.port)
        for token in ("one", "one", "two", LONG, LONG, "two"):
            writer.write(f"GET / HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer {token}\r\n\r\n".encode())
            await reader.readuntil(b"\r\n\r\n")
        writer.close()
        await writer.wait_closed()

    assert [one.token for one in seen] == ["one", "one", "two", LONG, LONG, "two"]
    assert seen[0] is seen[1]
    assert seen[3] is not seen[4]
    assert NO_HEAD not in seen
