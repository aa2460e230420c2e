"""Config expressions: CEL in AuthorizationConfiguration and AuthenticationConfiguration.

    request.user.startsWith("system:")   match conditions: the spec of a SubjectAccessReview
    claims.sub + "@example.com"          claim mappings: the claims of a token
    !user.username.startsWith("system:") user validation rules: the user made from the claims

Must hold: an expression is compiled once, when the configuration is read. An expression that fails is an error and does
not count as true.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.generic.access.authentication import BadToken
from aio_apiserver.registry.generic.access.users import UserInfo
from aio_apiserver.registry.generic.expressions.libraries import BASE
from aio_apiserver.registry.machinery.cel import types
from aio_apiserver.registry.machinery.cel.environment import CelEnvironment, Program
from aio_apiserver.registry.machinery.cel.syntax import Issue
from aio_apiserver.registry.machinery.cel.types import Type
from aio_apiserver.registry.machinery.cel.values import CostExceeded, EvaluationError
from aio_apiserver.registry.plugins.authentication.oidc import Claims

_STRINGS = types.list_of(types.STRING)
_EXTRA = types.map_of(types.STRING, _STRINGS)
_SPEC, _RESOURCE, _PATH, _SELECTOR, _REQUIREMENT, _USER = map(
    types.object_named,
    (
        "kubernetes.SubjectAccessReviewSpec",
        "kubernetes.ResourceAttributes",
        "kubernetes.NonResourceAttributes",
        "kubernetes.SelectorAttributes",
        "kubernetes.SelectorRequirement",
        "kubernetes.UserInfo",
    ),
)
_TEXTS_OF_RESOURCE = ("namespace", "verb", "group", "version", "resource", "subresource", "name")
_OBJECTS: Mapping[str, Mapping[str, Type]] = {
    _SPEC.name: {
        "resourceAttributes": _RESOURCE,
        "nonResourceAttributes": _PATH,
        "user": types.STRING,
        "groups": _STRINGS,
        "extra": _EXTRA,
        "uid": types.STRING,
    },
    _RESOURCE.name: {
        **dict.fromkeys(_TEXTS_OF_RESOURCE, types.STRING),
        "fieldSelector": _SELECTOR,
        "labelSelector": _SELECTOR,
    },
    _PATH.name: {"path": types.STRING, "verb": types.STRING},
    _SELECTOR.name: {"rawSelector": types.STRING, "requirements": types.list_of(_REQUIREMENT)},
    _REQUIREMENT.name: {"key": types.STRING, "operator": types.STRING, "values": _STRINGS},
    _USER.name: {"username": types.STRING, "uid": types.STRING, "groups": _STRINGS, "extra": _EXTRA},
}
_OF_REVIEWS = CelEnvironment({"request": _SPEC}, _OBJECTS, BASE)
_OF_CLAIMS = CelEnvironment({"claims": types.map_of(types.STRING, types.DYN)}, _OBJECTS, BASE)
_OF_USERS = CelEnvironment({"user": _USER}, _OBJECTS, BASE)


def match_conditions(texts: Sequence[str]) -> Callable[[Object], bool]:
    """A function: whether the spec of a SubjectAccessReview meets all conditions.

    It raises ValueError when a condition fails and no other one is false.
    """
    programs = [(text, _compiled(_OF_REVIEWS, text, types.BOOL)) for text in texts]

    def applies(spec: Object) -> bool:
        failures = []
        for text, program in programs:
            try:
                if program.evaluate({"request": spec})[0] is not True:
                    return False
            except (EvaluationError, CostExceeded) as exc:
                failures.append(f"cel evaluation error: expression '{text}' resulted in error: {exc}")
        if failures:
            raise ValueError(", ".join(failures))
        return True

    return applies


def text_of_claims(text: str) -> Callable[[Claims], str]:
    """A function that makes a string from claims. Raises ValueError when the expression does not compile."""
    program = _compiled(_OF_CLAIMS, text, types.STRING)

    def read(claims: Claims) -> str:
        value = _value(program, text, {"claims": claims})
        if not isinstance(value, str):
            raise BadToken(f"oidc: error evaluating expression '{text}': it gives no text")
        return value

    return read


def texts_of_claims(text: str) -> Callable[[Claims], tuple[str, ...]]:
    """A function that makes strings from claims. Null and the empty string give no value."""
    program = _compiled(_OF_CLAIMS, text, types.STRING, _STRINGS, types.list_of(types.DYN))

    def read(claims: Claims) -> tuple[str, ...]:
        value = _value(program, text, {"claims": claims})
        values = [value] if isinstance(value, str) else value or ()
        if not all(isinstance(one, str) for one in values):
            raise BadToken(f"oidc: error evaluating expression '{text}': it gives no list of texts")
        return tuple(filter(None, values))

    return read


def check_of_claims(text: str, message: str) -> Callable[[Claims], None]:
    """A claim validation rule."""
    program = _compiled(_OF_CLAIMS, text, types.BOOL)

    def check(claims: Claims) -> None:
        if _value(program, text, {"claims": claims}) is not True:
            why = message or f"validation expression '{text}' failed"
            raise BadToken(f"oidc: error evaluating claim validation expression: {why}")

    return check


def check_of_user(text: str, message: str) -> Callable[[UserInfo], None]:
    """A user validation rule."""
    program = _compiled(_OF_USERS, text, types.BOOL)

    def check(user: UserInfo) -> None:
        extra = {name: list(values) for name, values in user.extra.items()}
        known_user = {"username": user.name, "uid": user.uid, "groups": list(user.groups), "extra": extra}
        if _value(program, text, {"user": known_user}) is not True:
            why = message or f"validation expression '{text}' failed"
            raise BadToken(f"oidc: error evaluating user info validation rule: {why}")

    return check


def _compiled(environment: CelEnvironment, text: str, *wanted: Type) -> Program:
    try:
        program = environment.compile(text)
    except Issue as exc:
        raise ValueError(f"compilation failed: {exc}") from exc
    if not program.result.is_wild and program.result not in wanted:
        raise ValueError(f"must evaluate to {' or '.join(map(str, wanted))}")
    return program


def _value(program: Program, text: str, variables: Mapping[str, Any]) -> Any:
    try:
        return program.evaluate(variables)[0]
    except (EvaluationError, CostExceeded) as exc:
        raise BadToken(f"oidc: error evaluating expression '{text}': {exc}") from exc
