"""Coverage: whether RBAC rules cover all rights of other rules, and which rights are missing.

A rule is split into single rights. A right is one verb on one resource of one group, with one name or any, or one
verb on one path. A single held rule has to cover each right.

Pure. Must hold: the number of rights is limited, whatever rules the client sends.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from aio_apiserver.registry.base.golang.text import quoted
from aio_apiserver.registry.groups.rbac.policy_rules import PolicyRule

MOST_RIGHTS = 20_000
"""The limit for granted rules. The largest known roles have some thousand rights."""


class TooManyRights(ValueError):
    """The rules combine to more rights than can be checked."""


class Right(NamedTuple):
    """One right. A right on a URL has no resource. `name` is None when the right covers all names."""

    verb: str
    group: str = ""
    resource: str = ""
    name: str | None = None
    url: str | None = None

    def as_rule(self) -> dict[str, list[str]]:
        """The rule that grants this right alone."""
        if self.url is not None:
            return {"verbs": [self.verb], "nonResourceURLs": [self.url]}
        rule = {"verbs": [self.verb], "apiGroups": [self.group], "resources": [self.resource]}
        return rule if self.name is None else {**rule, "resourceNames": [self.name]}


def missing(held: Sequence[PolicyRule], granted: Iterable[Mapping[str, Any]]) -> list[Right]:
    """The granted rights that the held rules do not cover, in order. Raises TooManyRights."""
    rights = list(islice(_rights(granted), MOST_RIGHTS + 1))
    if len(rights) > MOST_RIGHTS:
        raise TooManyRights
    return [right for right in rights if not any(_is_held(rule, right) for rule in held)]


def described(rights: Iterable[Right]) -> list[str]:
    """The rights as sorted rules. Rights that differ in their verb become one rule."""
    verbs: dict[Right, list[str]] = {}
    urls = []
    for right in rights:
        if right.url is not None:
            urls.append(f"{{NonResourceURLs:{quoted([right.url])}, Verbs:{quoted([right.verb])}}}")
        else:
            verbs.setdefault(right._replace(verb=""), []).append(right.verb)
    return sorted({*urls, *(_describe(right, names) for right, names in verbs.items())})


def _describe(right: Right, verbs: Sequence[str]) -> str:
    names = f"ResourceNames:{quoted([right.name])}, " if right.name is not None else ""
    return f"{{APIGroups:{quoted([right.group])}, Resources:{quoted([right.resource])}, {names}Verbs:{quoted(verbs)}}}"


def _rights(rules: Iterable[Mapping[str, Any]]) -> Iterator[Right]:
    for rule in rules:
        names = rule.get("resourceNames") or (None,)
        for group in rule.get("apiGroups") or ():
            for resource in rule.get("resources") or ():
                for verb in rule.get("verbs") or ():
                    yield from (Right(verb, group, resource, name) for name in names)
        for url in rule.get("nonResourceURLs") or ():
            yield from (Right(verb, url=url) for verb in rule.get("verbs") or ())


def _is_held(rule: PolicyRule, right: Right) -> bool:
    if right.url is not None:
        return rule.allows_path(right.verb, right.url)
    _, slash, subresource = right.resource.partition("/")
    spelling = (right.resource, f"*/{subresource}" if slash else right.resource)
    return rule.allows_resource(right.verb, right.group, spelling, right.name)
