"""Always: the authorizers AlwaysAllow and AlwaysDeny, and the rights of system:masters, which precede all modes."""

from aio_apiserver.registry.generic.access.authorizer import (
    ALLOWED,
    NO_OPINION,
    Attributes,
    Decision,
    NonResourceRule,
    ResourceRule,
    Rules,
    Verdict,
)
from aio_apiserver.registry.generic.access.users import MASTERS, UserInfo

_EVERYTHING = Rules(
    resource_rules=(ResourceRule(verbs=("*",), api_groups=("*",), resources=("*",)),),
    non_resource_rules=(NonResourceRule(verbs=("*",), non_resource_urls=("*",)),),
)
_FORBIDDEN = Decision(Verdict.NO_OPINION, "Everything is forbidden.")


class AlwaysAllow:
    """Every user may do everything."""

    async def authorize(self, attributes: Attributes) -> Decision:
        return ALLOWED

    async def rules_for(self, user: UserInfo, namespace: str) -> Rules:
        return _EVERYTHING


class AlwaysDeny:
    """No user is allowed anything by this mode."""

    async def authorize(self, attributes: Attributes) -> Decision:
        return _FORBIDDEN

    async def rules_for(self, user: UserInfo, namespace: str) -> Rules:
        return Rules()


class PrivilegedGroup:
    """Members of system:masters may do everything."""

    async def authorize(self, attributes: Attributes) -> Decision:
        return ALLOWED if MASTERS in attributes.user.groups else NO_OPINION

    async def rules_for(self, user: UserInfo, namespace: str) -> Rules:
        return Rules()
