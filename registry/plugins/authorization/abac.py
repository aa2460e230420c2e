"""ABAC: allows requests by a file of policies, one JSON object a line. It allows or has no opinion.

    {"apiVersion": "abac.authorization.kubernetes.io/v1beta1", "kind": "Policy",
     "spec": {"user": "bob", "namespace": "projects", "resource": "pods", "apiGroup": "*", "readonly": true}}

Pure. Must hold: a policy without user and group applies to no user. A file with a line that cannot be read is refused.
"""

from collections.abc import Sequence
from typing import Any

import orjson
from msgspec import Struct

from aio_apiserver.registry.generic.access.authorizer import (
    ALLOWED,
    Attributes,
    Decision,
    NonResourceRule,
    ResourceRule,
    Rules,
    Verdict,
)
from aio_apiserver.registry.generic.access.users import ALL_AUTHENTICATED, UserInfo

_VERSION = "abac.authorization.kubernetes.io/v1beta1"
_ALL = "*"
_READING = ("get", "list", "watch")
_NO_MATCH = Decision(Verdict.NO_OPINION, "No policy matched.")


class ABACPolicy(Struct, frozen=True, kw_only=True):
    """One line of the file. An empty member matches an empty attribute. `*` matches all; as a user, all authenticated
    ones.
    """

    user: str = ""
    group: str = ""
    namespace: str = ""
    resource: str = ""
    api_group: str = ""
    path: str = ""
    is_readonly: bool = False

    def is_for(self, user: UserInfo) -> bool:
        """Whether the policy applies to a user. When it has both a user and a group, both must match."""
        if not self.user and not self.group:
            return False
        return self.user in ("", user.name) and (not self.group or self.group in user.groups)

    def allows(self, question: Attributes) -> bool:
        """Whether the policy allows a request of a user that it applies to."""
        if self.is_readonly and not question.is_reading:
            return False
        if not question.is_resource:
            return _fits_path(self.path, question.path)
        return (
            self.namespace in (_ALL, question.namespace)
            and self.resource in (_ALL, question.resource)
            and self.api_group in (_ALL, question.group)
        )

    @property
    def verbs(self) -> Sequence[str]:
        return _READING if self.is_readonly else (_ALL,)


class ABAC:
    """The authorization mode ABAC."""

    def __init__(self, policies: Sequence[ABACPolicy]) -> None:
        self._policies = policies

    async def authorize(self, attributes: Attributes) -> Decision:
        is_allowed = any(one.is_for(attributes.user) and one.allows(attributes) for one in self._policies)
        return ALLOWED if is_allowed else _NO_MATCH

    async def rules_for(self, user: UserInfo, namespace: str) -> Rules:
        mine = [one for one in self._policies if one.is_for(user) and one.namespace in (_ALL, namespace)]
        return Rules(
            resource_rules=[
                ResourceRule(verbs=one.verbs, api_groups=(one.api_group,), resources=(one.resource,))
                for one in mine
                if one.resource
            ],
            non_resource_rules=[
                NonResourceRule(verbs=one.verbs, non_resource_urls=(one.path,)) for one in mine if one.path
            ],
        )


def parse(text: str, source: str) -> list[ABACPolicy]:
    """The policies of a file. Raises ValueError with the source and the line."""
    policies = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        try:
            policies.append(_policy(orjson.loads(line)))
        except (ValueError, TypeError) as exc:
            raise ValueError(f"error reading policy file {source}, line {number}: {exc}") from exc
    return policies


def _policy(value: Any) -> ABACPolicy:
    if not isinstance(value, dict):
        raise ValueError("not an object")
    if "apiVersion" not in value and "kind" not in value:
        return _unversioned(value)
    if value.get("apiVersion") != _VERSION or value.get("kind") != "Policy":
        raise ValueError(f"must be a Policy of {_VERSION}")
    spec = value.get("spec") or {}
    user, group = _subject(_text(spec, "user"), _text(spec, "group"))
    return ABACPolicy(
        user=user,
        group=group,
        namespace=_text(spec, "namespace"),
        resource=_text(spec, "resource"),
        api_group=_text(spec, "apiGroup"),
        path=_text(spec, "nonResourcePath"),
        is_readonly=spec.get("readonly") is True,
    )


def _unversioned(value: dict[str, Any]) -> ABACPolicy:
    """A line in the oldest format, without a version. A missing member matches all."""
    named = _text(value, "user"), _text(value, "group")
    user, group = _subject(*named) if any(named) else ("", ALL_AUTHENTICATED)
    resource = _text(value, "resource")
    return ABACPolicy(
        user=user,
        group=group,
        namespace=_text(value, "namespace") or _ALL,
        resource=resource or _ALL,
        api_group=_ALL,
        path="" if resource or _text(value, "namespace") else _ALL,
        is_readonly=value.get("readonly") is True,
    )


def _subject(user: str, group: str) -> tuple[str, str]:
    """The subject `*` means all authenticated users."""
    return ("", ALL_AUTHENTICATED) if _ALL in (user, group) else (user, group)


def _text(value: dict[str, Any], name: str) -> str:
    text = value.get(name, "")
    if not isinstance(text, str):
        raise ValueError(f"{name} must be a string")
    return text


def _fits_path(pattern: str, path: str) -> bool:
    if pattern in (_ALL, path):
        return True
    return pattern.endswith(_ALL) and path.startswith(pattern.rstrip(_ALL))
