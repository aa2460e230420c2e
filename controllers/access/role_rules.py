"""Role rules: the rules of an aggregated ClusterRole: those of all selected roles, by name, each rule once.

Pure.
"""

from collections.abc import Iterable

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.validation.label_selectors import selects


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
