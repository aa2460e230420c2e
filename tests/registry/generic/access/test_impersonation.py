from typing import Any

import pytest

from aio_apiserver.registry.base.errors import Forbidden
from aio_apiserver.registry.generic.access.authorizer import Attributes, Decision, Rules
from aio_apiserver.registry.generic.access.impersonation import Impersonator
from aio_apiserver.registry.generic.access.users import UserInfo
from aio_apiserver.registry.groups.rbac.policy import RBACPolicy, RoleKey, binding_of, role_of
from aio_apiserver.registry.plugins.authorization.rbac import decide

ROBOT = UserInfo(name="robot", groups=("system:authenticated",))
ADMIN = UserInfo(name="admin", groups=("system:masters",))


class Deciding:
    """RBAC with one role for one user; administrators may do everything."""

    def __init__(self, *rules: dict[str, Any]) -> None:
        self._policy = RBACPolicy()
        self._policy.put_role(RoleKey.at("", "r"), role_of({"rules": rules}))
        binding = {
            "metadata": {"name": "b"},
            "roleRef": {"kind": "ClusterRole", "name": "r"},
            "subjects": [{"kind": "User", "name": "robot"}, {"kind": "Group", "name": "system:masters"}],
        }
        self._policy.put_binding("", "b", binding_of(binding))

    async def authorize(self, attributes: Attributes) -> Decision:
        return decide(self._policy, attributes)

    async def rules_for(self, user: UserInfo, namespace: str) -> Rules:
        return Rules()


def rule(verb: str, resource: str, *names: str, group: str = "") -> dict[str, Any]:
    return {"verbs": [verb], "apiGroups": [group], "resources": [resource], "resourceNames": list(names)}


EVERYTHING = {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}


def listing(user: UserInfo) -> Attributes:
    return Attributes(user, "list", "", "v1", "pods", namespace="ns")


async def impersonated(deciding: Deciding, wanted: UserInfo, user: UserInfo = ROBOT) -> UserInfo:
    return (await Impersonator(deciding).impersonate(wanted, listing(user))).user


async def test_who_may_impersonate_a_user_becomes_that_user_alone() -> None:
    deciding = Deciding(rule("impersonate", "users", "jane"))

    found = await impersonated(deciding, UserInfo(name="jane"))

    assert found == UserInfo(name="jane", groups=("system:authenticated",))


@pytest.mark.parametrize(
    "wanted",
    [
        UserInfo(name="joe"),
        UserInfo(name="jane", groups=("devs",)),
        UserInfo(name="jane", groups=("system:masters",)),
        UserInfo(name="jane", uid="1"),
        UserInfo(name="jane", extra={"scope": ("all",)}),
        UserInfo(name="system:serviceaccount:ns:jane"),
        UserInfo(name="system:anonymous"),
    ],
)
async def test_every_part_of_a_user_needs_a_right(wanted: UserInfo) -> None:
    deciding = Deciding(rule("impersonate", "users", "jane"))

    with pytest.raises(Forbidden):
        await impersonated(deciding, wanted)


@pytest.mark.parametrize(
    ("wanted", "groups"),
    [
        (UserInfo(name="system:anonymous"), ("system:unauthenticated",)),
        (
            UserInfo(name="system:serviceaccount:ns:bot"),
            ("system:serviceaccounts", "system:serviceaccounts:ns", "system:authenticated"),
        ),
        (UserInfo(name="system:serviceaccount:ns:bot", groups=("x",)), ("x", "system:authenticated")),
        (UserInfo(name="root", groups=("system:masters",)), ("system:masters", "system:authenticated")),
    ],
)
async def test_groups_follow_from_the_name(wanted: UserInfo, groups: tuple[str, ...]) -> None:
    assert (await impersonated(Deciding(EVERYTHING), wanted, ADMIN)).groups == groups


async def test_a_narrow_mode_is_for_the_requests_that_it_names() -> None:
    deciding = Deciding(
        rule("impersonate:user-info", "users", "jane", group="authentication.k8s.io"),
        rule("impersonate-on:user-info:list", "pods"),
    )
    impersonator = Impersonator(deciding)

    found = await impersonator.impersonate(UserInfo(name="jane"), listing(ROBOT))
    with pytest.raises(Forbidden) as refusal:
        await impersonator.impersonate(UserInfo(name="jane"), listing(ROBOT)._replace(verb="delete"))

    assert (found.user.name, found.constraint) == ("jane", "impersonate:user-info")
    assert "cannot impersonate-on:user-info:delete resource" in refusal.value.message


async def test_narrow_modes_do_not_lead_to_administrators() -> None:
    deciding = Deciding({**EVERYTHING, "verbs": ["impersonate:user-info", "impersonate-on:user-info:list"]})

    with pytest.raises(Forbidden, match="impersonating the system:masters group is not allowed"):
        await impersonated(deciding, UserInfo(name="jane", groups=("system:masters",)))


async def test_an_administrator_becomes_a_whole_node_until_another_mode_was_needed() -> None:
    impersonator, node = Impersonator(Deciding(EVERYTHING)), UserInfo(name="system:node:n")

    first = await impersonator.impersonate(node, listing(ADMIN))
    await impersonator.impersonate(UserInfo(name="jane", groups=("system:masters",)), listing(ADMIN))
    later = await impersonator.impersonate(node, listing(ADMIN))

    assert first.user.groups == ("system:nodes", "system:authenticated")
    assert later.user.groups == ("system:authenticated",)
