"""Authorizer: who may do what. The contract of all modes, the chain of them, and what they are asked.

Knows no mode and no HTTP. Must hold: an Authorizer that cannot decide says NO_OPINION with its error, never ALLOW; a
chain asks in order, and the first ALLOW or DENY counts.
"""

from collections.abc import Sequence
from enum import Enum
from functools import cached_property
from typing import NamedTuple, Protocol

from msgspec import Struct

from aio_apiserver.registry.base.errors import BadRequest
from aio_apiserver.registry.generic.access.users import UserInfo
from aio_apiserver.registry.machinery.selectors import fields, labels
from aio_apiserver.storage.measures import Counter
from aio_apiserver.storage.selection import Operator, Requirement


class Selectors:
    """What a list, watch or deletecollection is limited to; read from its texts when somebody wants to know."""

    def __init__(self, field_selector: str = "", label_selector: str = "") -> None:
        self._field_selector = field_selector
        self._label_selector = label_selector

    @cached_property
    def fields(self) -> tuple[Requirement, ...]:
        """On whatever fields; nothing if the text cannot be read, so that the request counts as unlimited."""
        try:
            return tuple(Requirement(name, how, frozenset({value})) for name, how, value in self._field_terms())
        except BadRequest:
            return ()

    @cached_property
    def labels(self) -> tuple[Requirement, ...]:
        try:
            return labels.parse(self._label_selector)
        except BadRequest:
            return ()

    def _field_terms(self) -> list[tuple[str, Operator, str]]:
        return fields.terms(self._field_selector)


class GivenSelectors(Selectors):
    """Requirements that are there already: those of an access review."""

    def __init__(self, field_requirements: Sequence[Requirement], label_requirements: Sequence[Requirement]) -> None:
        super().__init__()
        self.fields = tuple(field_requirements)
        self.labels = tuple(label_requirements)


UNLIMITED = Selectors()


class Attributes(NamedTuple):
    """One question: may `user` do `verb` with this? A NamedTuple, since one is made for each request.

    is_resource: group to name say what it is about; else `path` does, and `verb` is the method in lower case.
    """

    user: UserInfo
    verb: str
    group: str = ""
    version: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    path: str = ""
    is_resource: bool = True
    selectors: Selectors = UNLIMITED

    @property
    def is_reading(self) -> bool:
        return self.verb in ("get", "list", "watch")


class Verdict(Enum):
    """NO_OPINION leaves it to the next Authorizer; in the end it is a refusal."""

    ALLOW = "allow"
    DENY = "deny"
    NO_OPINION = "no opinion"


class Decision(Struct, frozen=True):
    """An answer. `error` says what went wrong on the way to it; a user who is allowed never notices."""

    verdict: Verdict
    reason: str = ""
    error: str = ""

    @property
    def is_allowed(self) -> bool:
        return self.verdict is Verdict.ALLOW


ALLOWED = Decision(Verdict.ALLOW)
NO_OPINION = Decision(Verdict.NO_OPINION)


class ResourceRule(Struct, frozen=True, kw_only=True):
    """What somebody may do with resources, as RBAC writes it."""

    verbs: Sequence[str]
    api_groups: Sequence[str] = ()
    resources: Sequence[str] = ()
    resource_names: Sequence[str] = ()


class NonResourceRule(Struct, frozen=True, kw_only=True):
    """What somebody may do with other paths."""

    verbs: Sequence[str]
    non_resource_urls: Sequence[str] = ()


class Rules(Struct, frozen=True, kw_only=True):
    """What somebody may do in a namespace. `is_incomplete` when not all that is allowed can be listed."""

    resource_rules: Sequence[ResourceRule] = ()
    non_resource_rules: Sequence[NonResourceRule] = ()
    is_incomplete: bool = False
    errors: Sequence[str] = ()


class Authorizer(Protocol):
    """One mode, or a chain of them."""

    async def authorize(self, attributes: Attributes) -> Decision:
        """Decide. Never raises: what fails becomes the decision's error."""
        ...

    async def rules_for(self, user: UserInfo, namespace: str) -> Rules:
        """All that the user may do in the namespace and beyond namespaces, for people to read."""
        ...


class Link(NamedTuple):
    """An Authorizer in a chain, and where its decisions are counted."""

    authorizer: Authorizer
    allowed: Counter
    denied: Counter


class Chain:
    """Several Authorizers as one."""

    def __init__(self, links: Sequence[Link]) -> None:
        self._links = tuple(links)

    def replace(self, links: Sequence[Link]) -> None:
        """Ask others from now on."""
        self._links = tuple(links)

    async def authorize(self, attributes: Attributes) -> Decision:
        reasons: list[str] = []
        errors: list[str] = []
        for authorizer, allowed, denied in self._links:
            decision = await authorizer.authorize(attributes)
            if decision.verdict is not Verdict.NO_OPINION:
                (allowed if decision.verdict is Verdict.ALLOW else denied).value += 1
                return decision
            if decision.reason:
                reasons.append(decision.reason)
            if decision.error and decision.error not in errors:
                errors.append(decision.error)
        return Decision(Verdict.NO_OPINION, "\n".join(reasons), joined(errors))

    async def rules_for(self, user: UserInfo, namespace: str) -> Rules:
        every = [await link.authorizer.rules_for(user, namespace) for link in self._links]
        return Rules(
            resource_rules=[rule for rules in every for rule in rules.resource_rules],
            non_resource_rules=[rule for rules in every for rule in rules.non_resource_rules],
            is_incomplete=any(rules.is_incomplete for rules in every),
            errors=[error for rules in every for error in rules.errors],
        )


def joined(errors: Sequence[str]) -> str:
    """Several errors as one text."""
    return f"[{', '.join(errors)}]" if len(errors) > 1 else "".join(errors)
