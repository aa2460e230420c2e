import pytest

from aio_apiserver.registry.generic.access.authorizer import Attributes
from aio_apiserver.registry.generic.access.users import UserInfo
from aio_apiserver.registry.plugins.authorization.abac import ABAC, parse

HEAD = '{"apiVersion":"abac.authorization.kubernetes.io/v1beta1","kind":"Policy","spec":'
POLICIES = f"""
# people
{HEAD}{{"user":"alice","namespace":"*","resource":"*","apiGroup":"*"}}}}
{HEAD}{{"group":"devs","namespace":"a","resource":"pods","readonly":true}}}}
{HEAD}{{"user":"*","nonResourcePath":"/api/*","readonly":true}}}}
{{"user":"old","resource":"pods"}}
"""

ALICE = UserInfo(name="alice", groups=("system:authenticated",))
DEV = UserInfo(name="dev", groups=("devs", "system:authenticated"))
OLD = UserInfo(name="old", groups=("system:authenticated",))
NOBODY = UserInfo(name="system:anonymous", groups=("system:unauthenticated",))


@pytest.mark.parametrize(
    ("asked", "is_allowed"),
    [
        (Attributes(ALICE, "delete", "apps", resource="deployments", namespace="x"), True),
        (Attributes(DEV, "get", resource="pods", namespace="a"), True),
        (Attributes(DEV, "delete", resource="pods", namespace="a"), False),
        (Attributes(DEV, "get", resource="pods", namespace="b"), False),
        (Attributes(DEV, "get", path="/api/v1", is_resource=False), True),
        (Attributes(DEV, "post", path="/api/v1", is_resource=False), False),
        (Attributes(NOBODY, "get", path="/api/v1", is_resource=False), False),
        (Attributes(OLD, "create", resource="pods", namespace="z"), True),
        (Attributes(OLD, "create", resource="secrets", namespace="z"), False),
    ],
)
async def test_a_request_is_allowed_by_one_whole_line(asked: Attributes, *, is_allowed: bool) -> None:
    assert (await ABAC(parse(POLICIES, "file")).authorize(asked)).is_allowed is is_allowed


@pytest.mark.parametrize("line", ["nonsense", "[]", '{"kind":"Policy"}', f"{HEAD}" + '{"user":1}}'])
def test_a_line_that_cannot_be_read_is_named(line: str) -> None:
    with pytest.raises(ValueError, match="error reading policy file here, line 2"):
        parse(f"# first\n{line}\n", "here")
