"""Requests that few clients send: which error comes first, and its message."""

from pathlib import Path
from typing import NamedTuple

from tests.apiserver.serving import as_admin, ask, running

MAPS = "/api/v1/namespaces/default/configmaps"
STATUSES = "/api/v1/componentstatuses"
YAML = "application/yaml"
MERGE = "application/merge-patch+json"


class Odd(NamedTuple):
    """A request, and the status and message of its response."""

    target: str
    status: int
    says: str
    method: str = "GET"
    accept: str = "application/json"
    sent: str = "application/json"
    body: bytes = b""


ODD = {
    "all of ours at once": Odd(MAPS, 406, "406: Not Acceptable", accept="application/*"),
    "no stream": Odd(f"{MAPS}?watch=1", 406, "application/json;stream=watch", accept=YAML),
    "no stream and worse": Odd(f"{MAPS}?watch=1&limit=x", 400, "invalid syntax", accept=YAML),
    "a watch of what is only listed": Odd(f"{STATUSES}?watch=1", 405, "watch is not supported"),
    "a wrong watch of what is only listed": Odd(f"{STATUSES}?watch=1&limit=x", 400, "invalid syntax"),
    "an old watch with a beginning": Odd(
        "/api/v1/watch/namespaces/default/configmaps?sendInitialEvents=true", 422, "is forbidden for list"
    ),
    "a name that is none": Odd(f"{MAPS}/a%2525", 400, 'Name parameter invalid: \\"a%25\\": may not contain'),
    "a name that is none, and no type of ours": Odd(f"{MAPS}/a%25", 406, "406: Not Acceptable", accept="text/html"),
    "a name that is none, and no method": Odd(f"{MAPS}/..", 405, "does not allow this method", method="OPTIONS"),
    "no method of a proxy": Odd("/api/v1/nodes/x/proxy", 405, "does not allow this method", method="FOO"),
    "wrong options, and no type of ours": Odd(f"{MAPS}?dryRun=x", 415, "unknown format", "POST", sent="text/plain"),
    "a byte that is no UTF-8": Odd(MAPS, 400, "invalid character 'Ó' looking for", "POST", body=b"\xd3"),
    "a patch that is no UTF-8": Odd(
        "/api/v1/namespaces/default", 400, "invalid character 'Ó' looking for", "PATCH", sent=MERGE, body=b"\xd3"
    ),
    "a timeout out of range": Odd(f"{MAPS}?timeout=9223372036854775809", 400, "time: invalid duration"),
    "a token and a version": Odd(f"{MAPS}?continue=x&resourceVersion=1", 400, "invalid continue token"),
}


async def test_odd_requests_are_answered_as_kubernetes_does(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        tls = as_admin(server)
        answers = {
            what: await ask(
                server.secure.port,
                odd.target,
                method=odd.method,
                headers={"Accept": odd.accept, "Content-Type": odd.sent},
                body=odd.body,
                tls=tls,
            )
            for what, odd in ODD.items()
        }

    assert {what: answer.status for what, answer in answers.items()} == {what: odd.status for what, odd in ODD.items()}
    assert [what for what, odd in ODD.items() if odd.says not in answers[what].text] == []


async def test_what_cannot_be_read_has_no_word_for_caches(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        answer = await ask(server.secure.port, "/api/v1/proxy", tls=as_admin(server))

    assert (answer.status, "cache-control" in answer.headers) == (500, False)


async def test_who_is_told_of_no_route_is_not_told_that_it_is_old(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        tls, port = as_admin(server), server.secure.port
        refused = await ask(port, STATUSES, headers={"Accept": "text/html"}, tls=tls)
        answered = await ask(port, STATUSES, tls=tls)

    assert "warning" not in refused.headers
    assert "deprecated" in answered.headers["warning"]
