"""RBAC: allows what the roles bound to a user allow. It allows or has no opinion.

Must hold: a decision needs a few dictionary lookups, however many roles and bindings there are. It uses roles and
bindings from watches, and waits for their first list. Health checks and the version do not wait: probes ask for them
while the store does not answer.
"""

from collections.abc import Sequence
from typing import Any

from aio_apiserver.registry.generic.access.authorizer import (
    NO_OPINION,
    Attributes,
    Decision,
    NonResourceRule,
    ResourceRule,
    Rules,
    Verdict,
    joined,
)
from aio_apiserver.registry.generic.access.users import ALL_AUTHENTICATED, ALL_UNAUTHENTICATED, UserInfo
from aio_apiserver.registry.groups.rbac import policy_rules
from aio_apiserver.registry.groups.rbac.policy import RBACPolicy, RoleKey, binding_of, missing, role_of
from aio_apiserver.registry.plugins.authorization.rbac_feed import RBACFeed

PUBLIC = "system:public-info-viewer"
PUBLIC_PATHS = ("/healthz", "/livez", "/readyz", "/version", "/version/")
"""The role that the server creates for all users, and its paths."""


def _before_the_first_list() -> RBACPolicy:
    """The policy for the public paths alone."""
    policy = RBACPolicy()
    rules = [{"verbs": ["get"], "nonResourceURLs": list(PUBLIC_PATHS)}]
    policy.put_role(RoleKey.at("", PUBLIC), role_of({"rules": rules}))
    subjects = [{"kind": "Group", "name": name} for name in (ALL_AUTHENTICATED, ALL_UNAUTHENTICATED)]
    role = {"kind": "ClusterRole", "name": PUBLIC}
    policy.put_binding("", PUBLIC, binding_of({"metadata": {"name": PUBLIC}, "roleRef": role, "subjects": subjects}))
    return policy


class RBAC:
    """The authorization mode RBAC."""

    def __init__(self, feed: RBACFeed) -> None:
        self._policy = feed.policy
        self._lists = feed.lists
        self._early = _before_the_first_list()

    async def authorize(self, attributes: Attributes) -> Decision:
        if not self._lists.are_complete:
            early = decide(self._early, attributes)
            if early.is_allowed:
                return early
            await self._lists.wait()
        return decide(self._policy, attributes)

    async def rules_for(self, user: UserInfo, namespace: str) -> Rules:
        await self._lists.wait()
        found, wrong = self._policy.rules_for(user, namespace)
        written = [rule.written for rule in found]
        return Rules(
            resource_rules=[_resource_rule(rule) for rule in written if rule.get("resources")],
            non_resource_rules=[_non_resource_rule(rule) for rule in written if rule.get("nonResourceURLs")],
            errors=(joined(wrong),) if wrong else (),
        )


def decide(policy: RBACPolicy, attributes: Attributes) -> Decision:
    """The decision of the policy on a request."""
    wrong: list[str] = []
    for binding in policy.bindings_of(attributes.user, attributes.namespace):
        rules = policy.rules_of(binding.role)
        if rules is None:
            wrong.append(missing(binding.role))
        elif policy_rules.allow(rules, attributes):
            return binding.allowed(attributes.user)
    if not wrong:
        return NO_OPINION
    return Decision(Verdict.NO_OPINION, f"RBAC: {joined(list(dict.fromkeys(wrong)))}")


def _strings(rule: Any, name: str) -> Sequence[str]:
    return tuple(rule.get(name) or ())


def _resource_rule(rule: Any) -> ResourceRule:
    return ResourceRule(
        verbs=_strings(rule, "verbs"),
        api_groups=_strings(rule, "apiGroups"),
        resources=_strings(rule, "resources"),
        resource_names=_strings(rule, "resourceNames"),
    )


def _non_resource_rule(rule: Any) -> NonResourceRule:
    return NonResourceRule(verbs=_strings(rule, "verbs"), non_resource_urls=_strings(rule, "nonResourceURLs"))
