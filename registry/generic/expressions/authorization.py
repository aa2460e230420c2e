"""Authorization: the CEL library `authorizer`, with which an expression checks the rights of a user.

CEL evaluation cannot await an authorizer. Must hold: a check without a known answer ends the evaluation with Undecided.
The caller asks the authorizer and evaluates the expression again.
"""

from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from aio_apiserver.registry.base.validation import names
from aio_apiserver.registry.generic.access.authorizer import Attributes, Decision, Selectors
from aio_apiserver.registry.generic.access.users import ALL_AUTHENTICATED, UserInfo
from aio_apiserver.registry.machinery.cel.declarations import functions
from aio_apiserver.registry.machinery.cel.environment import Library
from aio_apiserver.registry.machinery.cel.types import Type, TypeKind
from aio_apiserver.registry.machinery.cel.values import EvaluationError, Opaque

AUTHORIZER = Type(TypeKind.OBJECT, "kubernetes.authorization.Authorizer")
PATH_CHECK = Type(TypeKind.OBJECT, "kubernetes.authorization.PathCheck")
GROUP_CHECK = Type(TypeKind.OBJECT, "kubernetes.authorization.GroupCheck")
RESOURCE_CHECK = Type(TypeKind.OBJECT, "kubernetes.authorization.ResourceCheck")
DECISION = Type(TypeKind.OBJECT, "kubernetes.authorization.Decision")

_SERVICE_ACCOUNTS = "system:serviceaccounts"


class Undecided(Exception):
    """A check whose answer is not known yet."""

    def __init__(self, question: "Question") -> None:
        super().__init__()
        self.question = question


class Question(Struct, frozen=True):
    """One authorization check. Equal questions have equal answers within one request."""

    attributes: Attributes
    field_selector: str = ""
    label_selector: str = ""

    @property
    def key(self) -> tuple[object, ...]:
        """The identity of the question."""
        return (self.attributes.user.name, *self.attributes[1:10], self.field_selector, self.label_selector)

    def limited(self) -> Attributes:
        """The attributes for the authorizer, with the selectors."""
        return self.attributes._replace(selectors=Selectors(self.field_selector, self.label_selector))


Answers = Callable[[Question], Decision]
"""Returns the decision for a question. Raises Undecided when it is not known yet."""


class AuthorizerValue(Struct, Opaque, frozen=True, eq=False):
    """The CEL value `authorizer`: a user and the known decisions."""

    user: UserInfo
    answers: Answers
    type_name = AUTHORIZER.name


class PathCheck(Struct, Opaque, frozen=True, eq=False):
    """A check of a URL path; the verb is missing."""

    authorizer: AuthorizerValue
    path: str
    type_name = PATH_CHECK.name


class GroupCheck(Struct, Opaque, frozen=True, eq=False):
    """A check in an API group; the resource is missing."""

    authorizer: AuthorizerValue
    group: str
    type_name = GROUP_CHECK.name


class ResourceCheck(Struct, Opaque, frozen=True, eq=False, kw_only=True):
    """A check of a resource; the verb is missing."""

    authorizer: AuthorizerValue
    group: str
    resource: str
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    field_selector: str = ""
    label_selector: str = ""
    type_name = RESOURCE_CHECK.name


class DecisionValue(Struct, Opaque, frozen=True, eq=False):
    """The CEL value of a decision."""

    decision: Decision
    type_name = DECISION.name


def _path(authorizer: AuthorizerValue, path: str) -> PathCheck:
    if not path.strip():
        raise EvaluationError("path must not be empty")
    return PathCheck(authorizer, path)


def _service_account(authorizer: AuthorizerValue, namespace: str, name: str) -> AuthorizerValue:
    if names.is_dns_subdomain(name, False):
        raise EvaluationError("Invalid service account name")
    if names.is_dns_label(namespace, False):
        raise EvaluationError("Invalid service account namespace")
    groups = (_SERVICE_ACCOUNTS, f"{_SERVICE_ACCOUNTS}:{namespace}", ALL_AUTHENTICATED)
    return replace(authorizer, user=UserInfo(name=f"system:serviceaccount:{namespace}:{name}", groups=groups))


def _resource(check: GroupCheck, resource: str) -> ResourceCheck:
    if not resource.strip():
        raise EvaluationError("resource must not be empty")
    return ResourceCheck(authorizer=check.authorizer, group=check.group, resource=resource)


def _check_path(check: PathCheck, verb: str) -> DecisionValue:
    authorizer = check.authorizer
    question = Attributes(authorizer.user, verb, path=check.path, is_resource=False)
    return DecisionValue(authorizer.answers(Question(question)))


def _check_resource(check: ResourceCheck, verb: str) -> DecisionValue:
    authorizer = check.authorizer
    question = Attributes(
        authorizer.user,
        verb,
        check.group,
        "*",
        check.resource,
        check.subresource,
        check.namespace,
        check.name,
    )
    return DecisionValue(authorizer.answers(Question(question, check.field_selector, check.label_selector)))


def _in_namespace(check: ResourceCheck, namespace: str) -> ResourceCheck:
    return replace(check, namespace=namespace)


def _of_name(check: ResourceCheck, name: str) -> ResourceCheck:
    return replace(check, name=name)


def _of_subresource(check: ResourceCheck, subresource: str) -> ResourceCheck:
    return replace(check, subresource=subresource)


def _of_fields(check: ResourceCheck, selector: str) -> ResourceCheck:
    return replace(check, field_selector=selector)


def _of_labels(check: ResourceCheck, selector: str) -> ResourceCheck:
    return replace(check, label_selector=selector)


LIBRARY = Library(
    functions(
        {
            "path": [("authorizer_path", "Authorizer.(string) -> PathCheck")],
            "group": [("authorizer_group", "Authorizer.(string) -> GroupCheck")],
            "serviceAccount": [("authorizer_serviceaccount", "Authorizer.(string, string) -> Authorizer")],
            "resource": [("groupcheck_resource", "GroupCheck.(string) -> ResourceCheck")],
            "subresource": [("resourcecheck_subresource", "ResourceCheck.(string) -> ResourceCheck")],
            "namespace": [("resourcecheck_namespace", "ResourceCheck.(string) -> ResourceCheck")],
            "name": [("resourcecheck_name", "ResourceCheck.(string) -> ResourceCheck")],
            "fieldSelector": [("authorizer_fieldselector", "ResourceCheck.(string) -> ResourceCheck")],
            "labelSelector": [("authorizer_labelselector", "ResourceCheck.(string) -> ResourceCheck")],
            "check": [
                ("pathcheck_check", "PathCheck.(string) -> Decision"),
                ("resourcecheck_check", "ResourceCheck.(string) -> Decision"),
            ],
            "errored": [("decision_errored", "Decision.() -> bool")],
            "error": [("decision_error", "Decision.() -> string")],
            "allowed": [("decision_allowed", "Decision.() -> bool")],
            "reason": [("decision_reason", "Decision.() -> string")],
        },
        {
            "Authorizer": AUTHORIZER,
            "PathCheck": PATH_CHECK,
            "GroupCheck": GROUP_CHECK,
            "ResourceCheck": RESOURCE_CHECK,
            "Decision": DECISION,
        },
    ),
    {
        "authorizer_path": _path,
        "authorizer_group": GroupCheck,
        "authorizer_serviceaccount": _service_account,
        "groupcheck_resource": _resource,
        "resourcecheck_subresource": _of_subresource,
        "resourcecheck_namespace": _in_namespace,
        "resourcecheck_name": _of_name,
        "authorizer_fieldselector": _of_fields,
        "authorizer_labelselector": _of_labels,
        "pathcheck_check": _check_path,
        "resourcecheck_check": _check_resource,
        "decision_errored": lambda answer: bool(answer.decision.error),
        "decision_error": lambda answer: answer.decision.error,
        "decision_allowed": lambda answer: answer.decision.is_allowed,
        "decision_reason": lambda answer: answer.decision.reason,
    },
)
