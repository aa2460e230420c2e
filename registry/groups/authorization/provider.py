"""Provider: the access reviews of authorization.k8s.io, which report what a user may do."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import errors
from aio_apiserver.registry.base.names import GroupKind
from aio_apiserver.registry.base.validation.errors import invalid_of
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.generic import common_history, error_history
from aio_apiserver.registry.generic.access.authorizer import Authorizer, NonResourceRule, ResourceRule, joined
from aio_apiserver.registry.generic.access.users import UserInfo
from aio_apiserver.registry.generic.error_history import ErrorRow
from aio_apiserver.registry.generic.group import APIGroup
from aio_apiserver.registry.generic.rest import Environment, Request, RESTStorage
from aio_apiserver.registry.generic.reviews import Answer, ReviewREST, review
from aio_apiserver.registry.generic.store.provider import KindsProvider
from aio_apiserver.registry.generic.store.store import Store
from aio_apiserver.registry.groups.authorization import review_attributes, validation

GROUP = "authorization.k8s.io"

LOCAL = review(GROUP, "localsubjectaccessreviews", "LocalSubjectAccessReview", is_namespaced=True)
SELF = review(GROUP, "selfsubjectaccessreviews", "SelfSubjectAccessReview")
RULES = review(GROUP, "selfsubjectrulesreviews", "SelfSubjectRulesReview")
SUBJECT = review(GROUP, "subjectaccessreviews", "SubjectAccessReview")

_Validate = Callable[[Object], list[FieldError]]
_About = Callable[[Request, Mapping[str, Any]], UserInfo]
"""Returns the user that a review is about."""


def _checked(validate: _Validate, rows: Sequence[ErrorRow], request: Request, obj: Object) -> None:
    if found := validate(obj):
        # As in kube-apiserver, the error has no kind.
        raise invalid_of(GroupKind(GROUP, ""), "", error_history.retold(found, rows))


def _requesting_user(request: Request, _spec: Mapping[str, Any]) -> UserInfo:
    return request.user


def _named_user(_request: Request, spec: Mapping[str, Any]) -> UserInfo:
    return review_attributes.user_of(spec)


async def _decide(authorizer: Authorizer, about: _About, request: Request, obj: Object) -> Object:
    spec = obj["spec"]
    attributes, wrong = review_attributes.question(about(request, spec), spec)
    return {**obj, "status": review_attributes.status(await authorizer.authorize(attributes), wrong)}


def _has_namespace(_request: Request, obj: Object) -> None:
    if not (obj.get("spec") or {}).get("namespace"):
        raise errors.BadRequest("no namespace on request")


async def _decide_locally(decide: Answer, request: Request, obj: Object) -> Object:
    if not request.namespace:
        raise errors.BadRequest("namespace is required on this type: ")
    return await decide(request, obj)


async def _list_rules(authorizer: Authorizer, request: Request, obj: Object) -> Object:
    rules = await authorizer.rules_for(request.user, obj["spec"]["namespace"])
    status: Object = {
        "resourceRules": list(map(_resource_rule, rules.resource_rules)),
        "nonResourceRules": list(map(_non_resource_rule, rules.non_resource_rules)),
        "incomplete": rules.is_incomplete,
    }
    if rules.errors:
        status["evaluationError"] = joined(rules.errors)
    return {"metadata": {}, "spec": {}, "status": status}


def _resource_rule(rule: ResourceRule) -> Object:
    return {
        "verbs": list(rule.verbs),
        "apiGroups": list(rule.api_groups),
        "resources": list(rule.resources),
        "resourceNames": list(rule.resource_names),
    }


def _non_resource_rule(rule: NonResourceRule) -> Object:
    return {"verbs": list(rule.verbs), "nonResourceURLs": list(rule.non_resource_urls)}


def _reviews(_stores: Mapping[str, Store], given: Environment) -> Mapping[str, Mapping[str, RESTStorage]]:
    authorizer = given.authorizer
    about_self, about_others = (
        partial(_decide, authorizer, user_from) for user_from in (_requesting_user, _named_user)
    )
    rows = error_history.errors_at((*validation.ERRORS, common_history.IN_GO_SYNTAX), given.minor.version)
    served = (
        ReviewREST(
            LOCAL, given, partial(_decide_locally, about_others), partial(_checked, validation.validate_local, rows)
        ),
        ReviewREST(SELF, given, about_self, partial(_checked, validation.validate_self, rows)),
        ReviewREST(RULES, given, partial(_list_rules, authorizer), _has_namespace),
        ReviewREST(SUBJECT, given, about_others, partial(_checked, validation.validate_subject, rows)),
    )
    return {"v1": {rest.kind.plural: rest for rest in served}}


PROVIDER = KindsProvider(group=APIGroup(name=GROUP, priority=17600), extras=_reviews)
