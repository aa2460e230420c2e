"""Review attributes: converts the spec of an access review to Attributes for the authorizer.

Pure. Must hold: requirements that cannot be parsed are left out and reported. The review then covers more objects than
requested.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.errors import BadRequest
from aio_apiserver.registry.base.validation.names import check_label_value, check_qualified_name
from aio_apiserver.registry.generic.access.authorizer import (
    UNLIMITED,
    Attributes,
    Decision,
    GivenSelectors,
    Selectors,
    Verdict,
)
from aio_apiserver.registry.generic.access.users import UserInfo
from aio_apiserver.registry.machinery.selectors import fields, labels
from aio_apiserver.storage.selection import Operator, Requirement

_OPERATORS = {
    "In": Operator.IN,
    "NotIn": Operator.NOT_IN,
    "Exists": Operator.EXISTS,
    "DoesNotExist": Operator.DOES_NOT_EXIST,
}
_Read = Callable[[Mapping[str, Any]], Requirement | None]


def user_of(spec: Mapping[str, Any]) -> UserInfo:
    """The user that a review is about."""
    extra = {name: tuple(values or ()) for name, values in (spec.get("extra") or {}).items()}
    groups = tuple(spec.get("groups") or ())
    return UserInfo(name=spec.get("user", ""), uid=spec.get("uid", ""), groups=groups, extra=extra)


def question(user: UserInfo, spec: Mapping[str, Any]) -> tuple[Attributes, list[str]]:
    """The attributes of a review, and the messages about parts that could not be parsed."""
    requested = spec.get("resourceAttributes")
    if requested is None:
        requested = spec["nonResourceAttributes"]
        return Attributes(user, requested.get("verb", ""), path=requested.get("path", ""), is_resource=False), []
    selectors, wrong = _selectors(requested)
    attributes = Attributes(
        user,
        requested.get("verb", ""),
        requested.get("group", ""),
        requested.get("version") or "*",
        requested.get("resource", ""),
        subresource=requested.get("subresource", ""),
        namespace=requested.get("namespace", ""),
        name=requested.get("name", ""),
        selectors=selectors,
    )
    return attributes, wrong


def status(decision: Decision, wrong: Sequence[str]) -> Object:
    """The status of a review."""
    answer: Object = {"allowed": decision.is_allowed}
    if decision.verdict is Verdict.DENY:
        answer["denied"] = True
    if decision.reason:
        answer["reason"] = decision.reason
    if errors := [error for error in (decision.error, *wrong) if error]:
        answer["evaluationError"] = "; ".join(errors)
    return answer


def _selectors(requested: Mapping[str, Any]) -> tuple[Selectors, list[str]]:
    given = {name: requested.get(name) or {} for name in ("fieldSelector", "labelSelector")}
    if not any(given.values()):
        return UNLIMITED, []
    on_fields, fields_error = _requirements(given["fieldSelector"], _parse_fields, _field_requirement)
    on_labels, labels_error = _requirements(given["labelSelector"], labels.parse, _label_requirement)
    wrong = [
        f"spec.resourceAttributes.{name} {error}"
        for name, error in (("fieldSelector", fields_error), ("labelSelector", labels_error))
        if error
    ]
    return GivenSelectors(on_fields, on_labels), wrong


def _requirements(
    selector: Mapping[str, Any], parse: Callable[[str], tuple[Requirement, ...]], read: _Read
) -> tuple[tuple[Requirement, ...], str]:
    """The parsed requirements, and the message about the other ones."""
    if text := selector.get("rawSelector"):
        try:
            return parse(text), ""
        except BadRequest:
            return (), "ignored due to parse error"
    given = selector.get("requirements") or ()
    understood = tuple(filter(None, map(read, given)))
    if len(understood) == len(given):
        return understood, ""
    return understood, f"{'partially ' if understood else ''}ignored due to parse error"


def _parse_fields(text: str) -> tuple[Requirement, ...]:
    return tuple(Requirement(name, how, frozenset({value})) for name, how, value in fields.terms(text))


def _field_requirement(given: Mapping[str, Any]) -> Requirement | None:
    """A requirement of a field selector, which has exactly one value."""
    values = given.get("values") or ()
    if given.get("operator") not in ("In", "NotIn") or len(values) != 1:
        return None
    return Requirement(given.get("key", ""), _OPERATORS[given["operator"]], frozenset(values))


def _label_requirement(given: Mapping[str, Any]) -> Requirement | None:
    operator = _OPERATORS.get(given.get("operator", ""))
    values = given.get("values") or ()
    has_values = operator in (Operator.IN, Operator.NOT_IN)
    if operator is None or bool(values) is not has_values or check_qualified_name(given.get("key", "")):
        return None
    if any(map(check_label_value, values)):
        return None
    return Requirement(given["key"], operator, frozenset(values))
