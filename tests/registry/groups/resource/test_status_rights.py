"""Tests the rights that each part of a claim's status needs."""

from typing import Any

import pytest

from aio_apiserver.registry.generic.access.always import AlwaysAllow, AlwaysDeny
from aio_apiserver.registry.generic.access.authorizer import ALLOWED, NO_OPINION, Attributes, Decision, Rules
from aio_apiserver.registry.generic.access.users import UserInfo
from aio_apiserver.registry.generic.rest import Request
from aio_apiserver.registry.groups.resource import status_rights

DEVICE = {"driver": "d.example.com", "pool": "p", "device": "x"}
ALLOCATION = {
    "devices": {"results": [{"request": "r", **DEVICE}]},
    "nodeSelector": {
        "nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}]
    },
}
ALLOCATED = {"status": {"allocation": ALLOCATION}}
REPORTED = {"status": {"allocation": ALLOCATION, "devices": [{**DEVICE, "data": {"a": 1}}]}}


class Only:
    """Allows one verb on one subresource."""

    def __init__(self, verb: str, part: str) -> None:
        self._allowed = (verb, part)

    async def authorize(self, attributes: Attributes) -> Decision:
        return ALLOWED if (attributes.verb, attributes.subresource) == self._allowed else NO_OPINION

    async def rules_for(self, user: UserInfo, namespace: str) -> Rules:
        return Rules()


def request(node: str = "") -> Request:
    extra = {"authentication.kubernetes.io/node-name": [node]} if node else {}
    user = UserInfo(name="system:serviceaccount:n:driver", extra=extra)
    return Request(user=user, version="v1", warn=print, namespace="n", verb="update")


async def paths(authorizer: Any, new: dict[str, Any], old: dict[str, Any], *, node: str = "") -> list[str]:
    return [one.path for one in await status_rights.check(authorizer, request(node), new, old)]


async def test_binding_and_reporting_are_two_rights() -> None:
    assert await paths(AlwaysDeny(), ALLOCATED, {}) == ["status.allocation"]
    assert await paths(AlwaysDeny(), REPORTED, ALLOCATED) == ["status.devices"]
    assert await paths(AlwaysAllow(), REPORTED, {}) == []
    assert await paths(AlwaysDeny(), REPORTED, REPORTED) == []


@pytest.mark.parametrize(("node", "found"), [("n1", []), ("n2", ["status.devices"]), ("", ["status.devices"])])
async def test_a_driver_of_the_node_needs_the_right_for_its_node_only(node: str, found: list[str]) -> None:
    near = Only("associated-node:update", "driver")

    assert await paths(near, REPORTED, ALLOCATED, node=node) == found
