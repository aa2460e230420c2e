"""Classification: finds the FlowSchema of a request, and with it the priority level.

Pure. Must hold: the lowest matchingPrecedence wins, then the first name. An unmatched request gets catch-all. A
FlowSchema whose level is missing is ignored. The mandatory FlowSchemas exist without stored objects.
"""

from collections.abc import Container, Iterable, Sequence
from operator import attrgetter
from typing import NamedTuple

from msgspec import Struct

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import objects
from aio_apiserver.registry.generic.access.authorizer import Attributes
from aio_apiserver.registry.generic.access.users import UserInfo
from aio_apiserver.registry.groups.flowcontrol import mandatory

_EVERY = "*"
_CATCH_ALL = "catch-all"
_MANDATORY = ("exempt", _CATCH_ALL)
_MISSING_MATCHES_LAST = 2**31
_SERVICE_ACCOUNT_PREFIX = "system:serviceaccount:"


class Flow(NamedTuple):
    """The UIDs of a FlowSchema and of its priority level, for the headers of responses."""

    schema_uid: str
    level_uid: str


class FlowSchema(Struct, frozen=True):
    """The facts of a FlowSchema. `rules` are the rules of its spec. `distinguisher` is ByUser, ByNamespace or empty."""

    precedence: int
    name: str
    uid: str
    level: str
    rules: Sequence[Object]
    distinguisher: str = ""


def flow_schema(obj: Object) -> FlowSchema:
    """The facts of a FlowSchema object."""
    metadata, spec = obj["metadata"], obj.get("spec") or {}
    return FlowSchema(
        precedence=spec.get("matchingPrecedence", _MISSING_MATCHES_LAST),
        name=metadata["name"],
        uid=metadata.get("uid", ""),
        level=objects.get(spec, "priorityLevelConfiguration.name", ""),
        rules=spec.get("rules") or (),
        distinguisher=objects.get(spec, "distinguisherMethod.type", ""),
    )


class Classifier:
    """Classifies requests for one state of the objects."""

    def __init__(self, schemas: Iterable[FlowSchema], levels: Container[str]) -> None:
        known = {schema.name: schema for schema in schemas if schema.level in levels}
        for name in _MANDATORY:
            if name not in known:
                known[name] = flow_schema({"metadata": {"name": name}, "spec": mandatory.schema_spec(name)})
        self._schemas = sorted(known.values(), key=attrgetter("precedence", "name"))
        self._catch_all = known[_CATCH_ALL]

    def schema_of(self, attributes: Attributes) -> FlowSchema:
        """The FlowSchema of a request."""
        for schema in self._schemas:
            if any(_matches(rule, attributes) for rule in schema.rules):
                return schema
        return self._catch_all


def _matches(rule: Object, attributes: Attributes) -> bool:
    if not any(_is_subject(subject, attributes.user) for subject in rule.get("subjects") or ()):
        return False
    if attributes.is_resource:
        return any(_matches_resource(one, attributes) for one in rule.get("resourceRules") or ())
    return any(_matches_path(one, attributes) for one in rule.get("nonResourceRules") or ())


def _is_subject(subject: Object, user: UserInfo) -> bool:
    match subject.get("kind"):
        case "User":
            return objects.get(subject, "user.name") in (_EVERY, user.name)
        case "Group":
            group = objects.get(subject, "group.name")
            return group == _EVERY or group in user.groups
        case "ServiceAccount":
            namespace = objects.get(subject, "serviceAccount.namespace", "")
            name = objects.get(subject, "serviceAccount.name", "")
            prefix = f"{_SERVICE_ACCOUNT_PREFIX}{namespace}:"
            return user.name.startswith(prefix) if name == _EVERY else user.name == prefix + name
    return False


def _matches_resource(rule: Object, attributes: Attributes) -> bool:
    resource = attributes.resource
    if attributes.subresource:
        resource = f"{resource}/{attributes.subresource}"
    if not (
        _names(rule, "verbs", attributes.verb)
        and _names(rule, "resources", resource)
        and _names(rule, "apiGroups", attributes.group)
    ):
        return False
    if not attributes.namespace:
        return bool(rule.get("clusterScope"))
    return _names(rule, "namespaces", attributes.namespace)


def _matches_path(rule: Object, attributes: Attributes) -> bool:
    if not _names(rule, "verbs", attributes.verb):
        return False
    return any(_covers(pattern, attributes.path) for pattern in rule.get("nonResourceURLs") or ())


def _covers(pattern: str, path: str) -> bool:
    """Whether a path equals the pattern or is below it."""
    return pattern in (_EVERY, path) or path.startswith(pattern.removesuffix(_EVERY).removesuffix("/") + "/")


def _names(rule: Object, member: str, value: str) -> bool:
    named = rule.get(member) or ()
    return value in named or list(named) == [_EVERY]
