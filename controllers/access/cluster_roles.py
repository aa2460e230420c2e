"""Cluster roles: copies the rules of selected cluster roles into roles with an aggregationRule."""

from collections.abc import Iterable

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.runtime.client import key_of
from aio_apiserver.controllers.runtime.controller import Controller
from aio_apiserver.controllers.runtime.resources import CLUSTER_ROLES
from aio_apiserver.registry.base.validation.label_selectors import selects


class ClusterRoleAggregation(Controller):
    """Aggregates rules."""

    name = "clusterrole-aggregation-controller"

    def begin(self) -> None:
        self._roles = self.follow(CLUSTER_ROLES)
        self._roles.listen(self._changed)

    def _changed(self, _key: str, _before: Object | None, _after: Object | None) -> None:
        for role in self._roles.items.values():
            if role.get("aggregationRule"):
                self.queue.add(key_of(role))

    async def reconcile(self, key: str) -> float | None:
        role = self._roles.get(key)
        if role is None or not role.get("aggregationRule"):
            return None
        rules = gathered(role, self._roles.items.values())

        def gather(obj: Object) -> bool:
            is_right = (obj.get("rules") or []) == rules
            obj["rules"] = rules
            return not is_right

        if (role.get("rules") or []) != rules:
            await self.client.change(CLUSTER_ROLES, role, gather)
        return None


def gathered(role: Object, every: Iterable[Object]) -> list[Object]:
    """The rules of a role with an aggregationRule."""
    rules: list[Object] = []
    others = sorted(every, key=lambda one: str(one["metadata"]["name"]))
    for selector in role["aggregationRule"].get("clusterRoleSelectors") or ():
        for other in others:
            if other["metadata"]["name"] == role["metadata"]["name"]:
                continue
            if selects(selector, other["metadata"].get("labels") or {}):
                rules += [rule for rule in other.get("rules") or () if rule not in rules]
    return rules
