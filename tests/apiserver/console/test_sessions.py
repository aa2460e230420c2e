"""Sign-in to the console, its cookie, its pages, and what other sites cannot do."""

import re
from collections.abc import AsyncIterator
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any

import orjson
import pytest
import pytest_asyncio
from aiohttp import web

from aio_apiserver.apiserver.console import ended_sessions
from aio_apiserver.apiserver.console.ended_sessions import EndedSessions
from aio_apiserver.apiserver.console.sessions import ConsoleSessions
from aio_apiserver.apiserver.server import Server
from aio_apiserver.storage.errors import NoSpace
from aio_apiserver.storage.factory.factory import StorageConfig, StorageFactory
from aio_apiserver.storage.kv.memory import MemoryKV
from tests.apiserver.serving import Answer, as_admin, ask, bearer, running, trusting
from tests.storage.stores import Interfered, store_on

MARK = {"X-Console": "1"}
PODS = "/api/v1/namespaces/default/pods"

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Server]:
    async with running(tmp_path_factory.mktemp("server"), ui=True) as started:
        yield started


async def send(server: Server, target: str, method: str = "GET", body: Any = None, **headers: str) -> Answer:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    data = b"" if body is None else orjson.dumps(body)
    return await ask(server.secure.port, target, method=method, headers=named, body=data, tls=trusting(server))


def cookie_of(answer: Answer) -> str:
    """The cookie of a response, as the next request brings it."""
    [morsel] = SimpleCookie(answer.headers["set-cookie"]).values()
    return f"{morsel.key}={morsel.value}"


async def signed_in(server: Server, token: str) -> str:
    answer = await send(server, "/ui/session", "POST", **MARK, **bearer(token))
    assert answer.status == 200, answer.text
    return cookie_of(answer)


async def account_token(server: Server, name: str) -> str:
    tls, place = as_admin(server), "/api/v1/namespaces/default/serviceaccounts"
    json = {"Content-Type": "application/json"}
    made = orjson.dumps({"metadata": {"name": name}})
    await ask(server.secure.port, place, method="POST", headers=json, body=made, tls=tls)
    asked = await ask(server.secure.port, f"{place}/{name}/token", method="POST", headers=json, body=b"{}", tls=tls)
    token: str = asked.json["status"]["token"]
    return token


def ended_sessions_of(server: Server) -> EndedSessions:
    assert server.parts.console is not None
    return server.parts.console.front._sessions._ended


async def test_pages_need_no_user_and_forbid_other_scripts_and_frames(server: Server) -> None:
    page = await send(server, "/ui/")
    script = await send(server, "/ui/js/main.js", Accept_Encoding="gzip")
    again = await send(server, "/ui/js/main.js", If_None_Match=script.headers["etag"])
    missing = [await send(server, path) for path in ("/ui/assembly.py", "/ui/js/..%2f..%2fassembly.py", "/ui/x")]
    written = await send(server, "/ui/", "POST")

    assert (page.status, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert (page.headers["x-frame-options"], page.headers["x-content-type-options"]) == ("DENY", "nosniff")
    assert not re.search(r"<script>|style=|\son\w+=", page.text)
    assert (script.headers["content-encoding"], again.status, again.body) == ("gzip", 304, b"")
    assert [one.status for one in missing] == [404, 404, 404]
    assert written.status == 405


async def test_browsers_are_led_to_the_console_and_other_clients_to_the_paths(server: Server) -> None:
    browser = await send(server, "/", Accept="text/html,*/*")
    client = await ask(server.secure.port, "/", tls=as_admin(server))

    assert (browser.status, browser.headers["location"]) == (302, "/ui/")
    assert "/api/v1" in client.json["paths"]


async def test_a_token_begins_a_session_with_the_rights_of_its_user(server: Server) -> None:
    token = await account_token(server, "robin")
    answer = await send(server, "/ui/session", "POST", **MARK, **bearer(token))
    cookie = cookie_of(answer)
    user = await send(server, "/ui/session", **MARK, Cookie=cookie)
    refused = await send(server, PODS, **MARK, Cookie=cookie)
    unmarked = await send(server, PODS, Cookie=cookie)
    administrator = await signed_in(server, server.pki.admin_token)
    allowed = await send(server, PODS, **MARK, Cookie=administrator)

    flags = answer.headers["set-cookie"]
    assert {"Secure", "HttpOnly", "SameSite=Strict", "Path=/"} <= set(flags.split("; "))
    assert flags.startswith("__Host-")
    assert token not in flags + answer.text
    assert user.json["user"] == "system:serviceaccount:default:robin"
    assert (refused.status, "system:serviceaccount:default:robin" in refused.json["message"]) == (403, True)
    assert (unmarked.status, "system:anonymous" in unmarked.json["message"]) == (403, True)
    assert allowed.status == 200


async def test_a_session_ends_with_its_token_and_at_sign_out(server: Server) -> None:
    cookie = await signed_in(server, await account_token(server, "robin"))
    place = "/api/v1/namespaces/default/serviceaccounts/robin"
    await ask(server.secure.port, place, method="DELETE", tls=as_admin(server))
    ended = await send(server, "/api", **MARK, Cookie=cookie)
    out = await send(server, "/ui/session", "DELETE", **MARK, Cookie=cookie)

    assert ended.status == 401
    assert (out.status, "Max-Age=0" in out.headers["set-cookie"]) == (200, True)


async def test_a_copied_cookie_ends_at_sign_out_and_other_sessions_go_on(server: Server) -> None:
    copied, other = [await signed_in(server, server.pki.admin_token) for _ in range(2)]
    for _ in range(2):
        await send(server, "/ui/session", "DELETE", **MARK, Cookie=copied)
    forged = await send(server, "/ui/session", "DELETE", **MARK, Cookie=f"{other[:-9]}{'A' * 9}")

    answers = [await send(server, path, **MARK, Cookie=copied) for path in ("/ui/session", "/ui/api/timeline", PODS)]
    assert [one.status for one in answers] == [401, 401, 401]
    assert forged.status == 200
    assert (await send(server, PODS, **MARK, Cookie=other)).status == 200


@pytest.mark.parametrize("other", ["{}=", "{}.", ".{}", "{}AAAA"])
async def test_another_text_of_a_cookie_is_no_session(server: Server, other: str) -> None:
    name, value = (await signed_in(server, server.pki.admin_token)).split("=", 1)

    assert (await send(server, PODS, **MARK, Cookie=f"{name}={other.format(value)}")).status != 200
    assert (await send(server, PODS, **MARK, Cookie=f"{name}={value}")).status == 200


async def test_a_sign_out_with_a_token_that_has_ended_writes_nothing(server: Server) -> None:
    cookie = await signed_in(server, await account_token(server, "kim"))
    await ask(
        server.secure.port,
        "/api/v1/namespaces/default/serviceaccounts/kim",
        method="DELETE",
        tls=as_admin(server),
    )
    storage = ended_sessions_of(server)._storage
    before = await storage.count()
    out = await send(server, "/ui/session", "DELETE", **MARK, Cookie=cookie)

    assert (out.status, out.json, "Max-Age=0" in out.headers["set-cookie"]) == (200, {}, True)
    assert await storage.count() == before


async def test_a_sign_out_that_the_store_refuses_ends_the_session_here_and_says_so(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    cookie, other = [await signed_in(server, server.pki.admin_token) for _ in range(2)]

    full = Interfered(MemoryKV())

    async def refuse() -> None:
        raise NoSpace("the disk is full")

    full.before_put = refuse
    storage = store_on(full)
    with monkeypatch.context() as patch:
        patch.setattr(ended_sessions_of(server), "_storage", storage)
        out = await send(server, "/ui/session", "DELETE", **MARK, Cookie=cookie)
    await storage.close()

    assert (out.status, "Max-Age=0" in out.headers["set-cookie"]) == (200, True)
    assert "other servers may still accept" in out.json["problem"]
    assert (await send(server, PODS, **MARK, Cookie=cookie)).status == 401
    assert (await send(server, PODS, **MARK, Cookie=other)).status == 200


async def test_too_many_sign_outs_end_all_sessions_with_their_token() -> None:
    async with StorageFactory(StorageConfig()) as factory:
        storage = factory.storage_for(ended_sessions.PLACE)
        ended = EndedSessions(storage, most=2)
        for number, cookie in enumerate(("a", "b", "c", "d")):
            await ended.end("token", cookie, now=100 + number)

        asked = [("a", 200), ("c", 102), ("other", 103), ("other", 104)]
        assert [await ended.has("token", *one) for one in asked] == [True, True, True, False]
        assert not await ended.has("token of another user", "other", 103)
        assert await storage.count() == 3


async def test_a_wrong_token_and_a_changed_cookie_begin_no_session(server: Server) -> None:
    wrong = await send(server, "/ui/session", "POST", **MARK, **bearer("wrong"))
    nothing = await send(server, "/ui/session", "POST", **MARK)
    cookie = await signed_in(server, server.pki.admin_token)
    changed = await send(server, "/ui/session", **MARK, Cookie=f"{cookie[:-9]}{'A' * 9}")
    unmarked = await send(server, "/ui/session", "POST", **bearer(server.pki.admin_token))

    assert [wrong.status, nothing.status, unmarked.status] == [401, 401, 403]
    assert changed.json == {"user": ""}
    assert "set-cookie" not in wrong.headers.keys() | unmarked.headers.keys()


async def test_the_client_certificate_of_a_browser_is_its_user(server: Server) -> None:
    answer = await ask(server.secure.port, "/ui/session", headers=MARK, tls=as_admin(server))

    assert answer.json["user"] == "kubernetes-admin"


async def test_a_one_time_link_signs_in_once(tmp_path: Path) -> None:
    async with running(tmp_path, ui=True, anonymous_auth=False) as server:
        assert server.parts.console is not None
        address, _, code = server.parts.console.link(server.url).partition("#code=")
        first = await send(server, "/ui/session/code", "POST", {"code": code}, **MARK)
        second = await send(server, "/ui/session/code", "POST", {"code": code}, **MARK)
        bodies: list[Any] = [{}, [], {"code": 1}, "ü"]
        broken = [await send(server, "/ui/session/code", "POST", body, **MARK) for body in bodies]
        user = await send(server, "/ui/session", **MARK, Cookie=cookie_of(first))

    assert address == f"{server.url}/ui/"
    assert (first.status, second.status) == (200, 401)
    assert [one.status for one in broken] == [401] * 4
    assert user.json["user"] == "kubernetes-admin"


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
async def test_another_site_can_show_a_link_and_do_nothing_else(server: Server, site: str) -> None:
    tls, port = as_admin(server), server.secure.port
    from_site = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "no-cors"}
    read = await ask(port, PODS, headers=from_site, tls=tls)
    written = await ask(port, PODS, method="POST", headers=from_site, body=b"{}", tls=tls)
    link = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    shown = await ask(port, "/ui/", headers=link, tls=tls)
    framed = await ask(port, "/ui/", headers={**link, "Sec-Fetch-Dest": "iframe"}, tls=tls)

    assert (read.status, written.status, shown.status, framed.status) == (403, 403, 200, 403)


async def test_a_server_without_the_flag_has_no_console(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        answer = await ask(server.secure.port, "/ui/", tls=as_admin(server))
        root = await ask(server.secure.port, "/", headers={"Accept": "text/html"}, tls=as_admin(server))

    assert (answer.status, root.status) == (404, 200)


async def test_a_cookie_ends_after_half_a_day(server: Server, tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_bytes(b"a key")
    clock, answers = server.parts.clock, []
    async with StorageFactory(StorageConfig()) as factory:
        ended = EndedSessions(factory.storage_for(ended_sessions.PLACE))
        early = ConsoleSessions(server.pki.ca.key, ended, lambda: clock.now() - ended_sessions.SECONDS - 5)
        other = ConsoleSessions(key, ended, clock.now)
        for sessions in (early, other):
            response = web.Response()
            sessions.begin(response, server.pki.admin_token)
            [morsel] = response.cookies.values()
            answers.append(await send(server, "/ui/session", **MARK, Cookie=f"{morsel.key}={morsel.value}"))

    assert [one.json for one in answers] == [{"user": ""}, {"user": ""}]
