"""However a path is spelled, a response shows what its user may see."""

import itertools
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import orjson
import pytest

from aio_apiserver.apiserver.server import Server
from tests.apiserver.serving import as_admin, ask, bearer, running, trusting

HIDDEN = "aGlkZGVu"
"""The content of everything that the user may not see."""
RULES = [
    {"verbs": ["get", "list", "watch"], "apiGroups": [""], "resources": ["secrets"], "resourceNames": ["open"]},
    {"verbs": ["*"], "apiGroups": ["*"], "resources": ["configmaps", "nodes", "clusterroles", "secrets/status"]},
]
MADE = [
    ("/api/v1/namespaces", {"metadata": {"name": "a"}}),
    ("/api/v1/namespaces", {"metadata": {"name": "b"}}),
    ("/api/v1/namespaces/a/secrets", {"metadata": {"name": "open"}, "data": {"k": "b3Blbg=="}}),
    ("/api/v1/namespaces/a/secrets", {"metadata": {"name": "hidden"}, "data": {"k": HIDDEN}}),
    ("/api/v1/namespaces/b/secrets", {"metadata": {"name": "open"}, "data": {"k": HIDDEN}}),
    ("/api/v1/namespaces/b/configmaps", {"metadata": {"name": "c"}, "data": {"k": HIDDEN}}),
    ("/api/v1/nodes", {"metadata": {"name": "n", "labels": {"k": HIDDEN}}}),
    ("/apis/rbac.authorization.k8s.io/v1/namespaces/a/roles", {"metadata": {"name": "r"}, "rules": RULES}),
    (
        "/apis/rbac.authorization.k8s.io/v1/namespaces/a/rolebindings",
        {
            "metadata": {"name": "r"},
            "roleRef": {"kind": "Role", "name": "r"},
            "subjects": [{"kind": "User", "name": "alice"}],
        },
    ),
]


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Server]:
    tokens = tmp_path / "tokens.csv"
    tokens.write_text("usertoken,alice,1,devs\n")
    async with running(tmp_path / "data", token_auth_file=tokens) as started:
        for path, obj in MADE:
            body, headers = orjson.dumps(obj), {"Content-Type": "application/json"}
            answer = await ask(
                started.secure.port, path, method="POST", body=body, headers=headers, tls=as_admin(started)
            )
            assert answer.status == 201, answer.text
        yield started


def targets() -> Iterator[str]:
    """Paths to what alice may not see, and variations of paths that she may."""
    objects = (
        "/api/v1/namespaces/a/secrets/hidden",
        "/api/v1/namespaces/b/secrets/open",
        "/api/v1/namespaces/b/secrets",
        "/api/v1/namespaces/b/configmaps/c",
        "/api/v1/namespaces/a/nodes/n",
        "/api/v1/namespaces/a/nodes",
        "/api/v1/nodes/n",
        "/api/v1/secrets",
        "/api/v1/secrets/hidden",
    )
    spellings = (
        ("/", "/"),
        ("namespaces/b", "namespaces/a/../b"),
        ("namespaces/b", "namespaces/a%2f..%2fb"),
        ("namespaces/b", "namespaces/a/namespaces/b"),
        ("namespaces/b", "namespaces/%62"),
        ("namespaces/", "namespaces//"),
        ("namespaces/b", "namespaces/B"),
        ("/secrets", "/secrets/open/../hidden"),
        ("/secrets/hidden", "/secrets/open%2f..%2fhidden"),
        ("/secrets/hidden", "/secrets/hidden/status"),
        ("/secrets", "/Secrets"),
        ("/api/", "//api/"),
        ("/api/v1/", "/api/v1/watch/"),
        ("/api/v1/", "/api/v1/./"),
        ("/api/v1/", "/api//v1/"),
    )
    queries = (
        "",
        "/",
        "?fieldSelector=metadata.name%3Dopen",
        "?fieldSelector=metadata.name%3Dopen,metadata.name!%3Dopen",
    )
    for path, (old, new), query in itertools.product(objects, spellings, queries):
        if old in path:
            yield path.replace(old, new, 1) + query


async def test_no_spelling_of_a_path_shows_what_is_hidden(server: Server) -> None:
    tls, headers = trusting(server), {**bearer("usertoken"), "Accept": "*/*"}
    shown = []
    for target in dict.fromkeys(targets()):
        answer = await ask(server.secure.port, target, headers=headers, tls=tls)
        if HIDDEN in answer.text or answer.status >= 500:
            shown.append((target, answer.status, answer.text))

    assert shown == []


async def test_what_may_be_seen_is_seen_by_name_and_by_a_selector_of_the_name(server: Server) -> None:
    for target in (
        "/api/v1/namespaces/a/secrets/open",
        "/api/v1/namespaces/a/secrets?fieldSelector=metadata.name%3Dopen",
    ):
        answer = await ask(server.secure.port, target, headers=bearer("usertoken"), tls=trusting(server))

        assert (answer.status, "b3Blbg==" in answer.text) == (200, True)
