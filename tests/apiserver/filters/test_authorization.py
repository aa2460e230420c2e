from pathlib import Path

import pytest

from apiserver.filters.authorization import authorizers_of
from apiserver.request_info import resolve
from registry.access.users import ALL_AUTHENTICATED, ANONYMOUS, MASTERS, UserInfo
from tests.apiserver.serving import ask, bearer, running, trusting

ALICE = UserInfo(name="alice", groups=("devs", ALL_AUTHENTICATED))
ADMIN = UserInfo(name="admin", groups=(MASTERS, ALL_AUTHENTICATED))


def may(modes: list[str], user: UserInfo, path: str, method: str = "GET") -> bool:
    info = resolve(method, path, {})
    return any(authorizer(user, info) for authorizer in authorizers_of(modes))


@pytest.mark.parametrize("path", ["/healthz", "/livez", "/readyz", "/version", "/version/"])
def test_anybody_may_read_health_and_version(path: str) -> None:
    assert may(["RBAC"], ANONYMOUS, path)
    assert not may(["RBAC"], ANONYMOUS, path, "POST")


@pytest.mark.parametrize("path", ["/", "/healthz/etcd", "/livez/ping", "/metrics", "/api", "/api/v1/pods"])
def test_everything_else_is_for_those_who_are_known(path: str) -> None:
    assert not may(["RBAC"], ANONYMOUS, path)
    assert may(["RBAC"], ALICE, path)


@pytest.mark.parametrize(
    ("modes", "user", "is_allowed"),
    [
        (["AlwaysAllow"], ANONYMOUS, True),
        (["AlwaysDeny"], ALICE, False),
        (["AlwaysDeny"], ADMIN, True),
        (["Node", "RBAC"], ALICE, True),
        (["AlwaysDeny", "RBAC"], ALICE, True),
    ],
)
def test_the_modes_add_up(modes: list[str], user: UserInfo, *, is_allowed: bool) -> None:
    assert may(modes, user, "/api/v1/pods") == is_allowed


@pytest.mark.parametrize(
    ("target", "message", "details"),
    [
        ("/foo", 'forbidden: User "system:anonymous" cannot get path "/foo"', {}),
        ("/a%3Cb%3E&c", 'forbidden: User "system:anonymous" cannot get path "/a&lt;b&gt;&amp;c"', {}),
        (
            "/api/v1/namespaces",
            'namespaces is forbidden: User "system:anonymous" cannot list resource "namespaces" in API group "" '
            "at the cluster scope",
            {"kind": "namespaces"},
        ),
        (
            "/apis/apps/v1/namespaces/ns/deployments/x/scale",
            'deployments.apps "x" is forbidden: User "system:anonymous" cannot get resource "deployments/scale" '
            'in API group "apps" in the namespace "ns"',
            {"name": "x", "group": "apps", "kind": "deployments"},
        ),
    ],
)
async def test_refusals_say_what_was_asked_for(
    tmp_path: Path, target: str, message: str, details: dict[str, str]
) -> None:
    async with running(tmp_path) as server:
        answer = await ask(server.secure.port, target, tls=trusting(server))

    assert answer.status == 403
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert (answer.json["message"], answer.json["details"]) == (message, details)


async def test_head_is_a_verb_of_its_own_on_paths(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        anonymous = await ask(server.secure.port, "/healthz", method="HEAD", tls=trusting(server))
        admin = await ask(
            server.secure.port,
            "/healthz",
            method="HEAD",
            tls=trusting(server),
            headers=bearer(server.pki.admin_token),
        )

    assert (anonymous.status, admin.status) == (403, 200)
    assert anonymous.body == admin.body == b""
