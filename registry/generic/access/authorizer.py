"""Authorizer: the contract of kube-apiserver's authorization modes, the chain of them, and their attributes.

Knows no mode and no HTTP. Must hold: an Authorizer that cannot decide returns NO_OPINION with its error, never ALLOW. A
chain calls the authorizers in order, and the first ALLOW or DENY counts.
"""

from collections.abc import Sequence
from enum import Enum
from functools import cached_property
from typing import NamedTuple, Protocol

from msgspec import Struct

from aio_apiserver.base.measures import Counter
from aio_apiserver.registry.base.errors import BadRequest
from aio_apiserver.registry.generic.access.users import UserInfo
from aio_apiserver.registry.machinery.selectors import fields, labels
from aio_apiserver.storage.selection import Operator, Requirement


class Selectors:
    """The selectors of a list, watch or deletecollection; parsed when an authorizer needs them."""

    def __init__(self, field_selector: str = "", label_selector: str = "") -> None:
        self._field_selector = field_selector
        self._label_selector = label_selector

    @cached_property
    def fields(self) -> tuple[Requirement, ...]:
        """Requirements on any fields; none if the text cannot be parsed, so that the request counts as unlimited."""
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
    """Parsed requirements: those of an access review."""

    def __init__(self, field_requirements: Sequence[Requirement], label_requirements: Sequence[Requirement]) -> None:
        super().__init__()
        self.fields = tuple(field_requirements)
        self.labels = tuple(label_requirements)


UNLIMITED = Selectors()


class Attributes(NamedTuple):
    """One request to authorize: may `user` do `verb` on this? A NamedTuple, since one is made for each request.

    is_resource: the request is about a resource, given by group to name. Otherwise it is about `path`, and `verb` is
    the method in lower case.
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
    """NO_OPINION leaves the decision to the next Authorizer; after the last one it is a refusal."""

    ALLOW = "allow"
    DENY = "deny"
    NO_OPINION = "no opinion"


_ALLOW, _NO_OPINION = Verdict.ALLOW, Verdict.NO_OPINION  # looked up once: each request compares them


class Decision(Struct, frozen=True):
    """A decision. `error` is a failure on the way to it; an allowed user does not see it."""

    verdict: Verdict
    reason: str = ""
    error: str = ""

    @property
    def is_allowed(self) -> bool:
        return self.verdict is _ALLOW


ALLOWED = Decision(Verdict.ALLOW)
NO_OPINION = Decision(Verdict.NO_OPINION)


class ResourceRule(Struct, frozen=True, kw_only=True):
    """Verbs that a user may use on resources, as in RBAC."""

    verbs: Sequence[str]
    api_groups: Sequence[str] = ()
    resources: Sequence[str] = ()
    resource_names: Sequence[str] = ()


class NonResourceRule(Struct, frozen=True, kw_only=True):
    """Verbs that a user may use on other paths."""

    verbs: Sequence[str]
    non_resource_urls: Sequence[str] = ()


class Rules(Struct, frozen=True, kw_only=True):
    """The rules of a user in a namespace. `is_incomplete` when the list may lack some."""

    resource_rules: Sequence[ResourceRule] = ()
    non_resource_rules: Sequence[NonResourceRule] = ()
    is_incomplete: bool = False
    errors: Sequence[str] = ()


class Authorizer(Protocol):
    """One mode, or a chain of them."""

    async def authorize(self, attributes: Attributes) -> Decision:
        """Decide. A failure becomes the decision's error. Raises Initializing while the rules are not read yet."""
        ...

    async def rules_for(self, user: UserInfo, namespace: str) -> Rules:
        """The user's rules in the namespace and for cluster-scoped resources, for SelfSubjectRulesReview."""
        ...


class Link(NamedTuple):
    """An Authorizer in a chain, with the counters of its decisions."""

    authorizer: Authorizer
    allowed: Counter
    denied: Counter
    name: str = ""
    """The name that stands before its reasons, in the minors that name authorizers."""


class AuthorizerChain:
    """Several Authorizers as one."""

    def __init__(self, links: Sequence[Link]) -> None:
        self._links = tuple(links)

    def replace(self, links: Sequence[Link]) -> None:
        """Use other authorizers from now on."""
        self._links = tuple(links)

    async def authorize(self, attributes: Attributes) -> Decision:
        reasons: list[str] = []
        errors: list[str] = []
        for authorizer, allowed, denied, name in self._links:
            decision = await authorizer.authorize(attributes)
            verdict = decision.verdict
            if verdict is not _NO_OPINION:
                (allowed if verdict is _ALLOW else denied).value += 1
                return decision
            if decision.reason:
                reasons.append(f"{name}: {decision.reason}" if name else decision.reason)
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
