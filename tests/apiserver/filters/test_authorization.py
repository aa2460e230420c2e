from pathlib import Path

import pytest

from tests.apiserver.serving import as_admin, ask, bearer, running, trusting


@pytest.mark.parametrize("path", ["/healthz", "/livez", "/readyz", "/version", "/version/"])
async def test_anonymous_clients_may_read_health_and_version(tmp_path: Path, path: str) -> None:
    async with running(tmp_path) as server:
        read = await ask(server.secure.port, path, tls=trusting(server))
        written = await ask(server.secure.port, path, method="POST", tls=trusting(server))

    assert (read.status, written.status) == (200, 403)


@pytest.mark.parametrize(
    ("modes", "status"),
    [(("AlwaysAllow",), 200), (("AlwaysDeny",), 403), (("RBAC",), 403), (("AlwaysDeny", "AlwaysAllow"), 200)],
)
async def test_the_modes_add_up(tmp_path: Path, modes: tuple[str, ...], status: int) -> None:
    async with running(tmp_path, authorization_mode=modes) as server:
        stranger = await ask(server.secure.port, "/api/v1/pods", tls=trusting(server))
        admin = await ask(server.secure.port, "/api/v1/pods", tls=as_admin(server))

    assert (stranger.status, admin.status) == (status, 200)


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


@pytest.mark.parametrize(
    "target",
    [
        "/api/v1/namespaces/default/nodes",
        "/apis/rbac.authorization.k8s.io/v1/namespaces/default/clusterroles",
        "/apis/rbac.authorization.k8s.io/v1/namespaces/default/clusterroles/cluster-admin",
        "/api/v1/namespaces/default/namespaces/kube-system",
        "/api/v1/pods/web",
    ],
)
async def test_a_namespace_in_the_path_is_the_one_that_is_served(tmp_path: Path, target: str) -> None:
    async with running(tmp_path) as server:
        answer = await ask(server.secure.port, target, tls=as_admin(server))

    assert answer.status == 404
    assert answer.json["message"] == "the server could not find the requested resource"
