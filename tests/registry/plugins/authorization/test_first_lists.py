"""Authorizers whose objects have not been listed yet, as on a server that starts without its store."""

import json
from pathlib import Path
from typing import Any

import pytest

from aio_apiserver.registry.controlplane import bootstrap
from aio_apiserver.registry.generic.access.authorizer import NO_OPINION, Attributes
from aio_apiserver.registry.generic.access.users import ANONYMOUS, UserInfo
from aio_apiserver.registry.plugins.authorization.first_lists import FirstLists
from aio_apiserver.registry.plugins.authorization.node import NodeAuthorizer
from aio_apiserver.registry.plugins.authorization.rbac import PUBLIC, PUBLIC_PATHS, RBAC
from aio_apiserver.registry.plugins.authorization.rbac_feed import RBACFeed
from aio_apiserver.storage.errors import Initializing

USERS = [ANONYMOUS, UserInfo(name="alice", groups=("system:authenticated",))]
NODE = UserInfo(name="system:node:a", groups=("system:nodes", "system:authenticated"))


def no_storage(_resource: object) -> Any:
    return None


def rbac() -> tuple[RBAC, RBACFeed]:
    feed = RBACFeed(no_storage)
    feed.lists = FirstLists("roles and bindings", patience=0.0)
    return RBAC(feed), feed


def of_path(user: UserInfo, path: str, verb: str = "get") -> Attributes:
    return Attributes(user, verb, path=path, is_resource=False)


@pytest.mark.parametrize("user", USERS, ids=lambda user: user.name)
@pytest.mark.parametrize("path", PUBLIC_PATHS)
async def test_rbac_allows_health_checks_and_the_version_before_the_roles_are_listed(path: str, user: UserInfo) -> None:
    assert (await rbac()[0].authorize(of_path(user, path))).is_allowed


@pytest.mark.parametrize(
    "asked",
    [
        of_path(ANONYMOUS, "/livez/ping"),
        of_path(ANONYMOUS, "/metrics"),
        of_path(ANONYMOUS, "/readyz", "post"),
        Attributes(USERS[1], "get", "", "v1", "pods", namespace="default"),
    ],
)
async def test_rbac_does_not_decide_about_other_requests_before_the_roles_are_listed(asked: Attributes) -> None:
    with pytest.raises(Initializing, match="roles and bindings are not listed yet"):
        await rbac()[0].authorize(asked)


async def test_rbac_decides_by_the_stored_roles_alone_when_they_are_listed() -> None:
    authorizer, feed = rbac()
    feed.lists.complete()

    assert await authorizer.authorize(of_path(ANONYMOUS, "/readyz")) == NO_OPINION


def test_the_public_paths_are_those_of_the_role_that_the_server_creates() -> None:
    lines = (Path(bootstrap.__path__[0]) / "rbac.json").read_text()
    written = [line.rstrip(",") for line in lines.splitlines() if f'"name":"{PUBLIC}"' in line]
    role, binding = map(json.loads, written)

    assert role["rules"] == [{"verbs": ["get"], "nonResourceURLs": list(PUBLIC_PATHS)}]
    assert {subject["name"] for subject in binding["subjects"]} == {"system:authenticated", "system:unauthenticated"}


async def test_a_node_asks_for_paths_before_the_objects_of_nodes_are_listed() -> None:
    assert await NodeAuthorizer(no_storage).authorize(of_path(NODE, "/readyz")) == NO_OPINION
