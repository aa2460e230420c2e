"""Param rights: a user who writes a policy or binding needs the right to read its parameters."""

from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import errors, objects
from aio_apiserver.registry.base.golang import text
from aio_apiserver.registry.base.validation import field
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.generic.access.authorizer import Attributes, Authorizer
from aio_apiserver.registry.generic.access.users import MASTERS, UserInfo
from aio_apiserver.registry.generic.hooks import Hooks
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.lookups import Lookup
from aio_apiserver.registry.generic.resource import resource_of
from aio_apiserver.registry.generic.rest import Environment, Request
from aio_apiserver.registry.groups.admissionregistration.mutatingadmissionpolicies import MUTATINGADMISSIONPOLICIES
from aio_apiserver.registry.groups.admissionregistration.validatingadmissionpolicies import VALIDATINGADMISSIONPOLICIES

_KIND, _REF = "spec.paramKind", "spec.paramRef"


def policy_hooks(environment: Environment) -> Hooks:
    """The hooks for the Stores of policies. The user has to be allowed to read all objects of the paramKind."""
    resources, authorizer = _resources(environment), environment.authorizer

    async def check(request: Request, subresource: str, new: Object, old: Object | None) -> Sequence[FieldError]:
        kind = objects.get(new, _KIND)
        is_same = old is not None and objects.get(old, _KIND) == kind
        if subresource or not kind or is_same or MASTERS in request.user.groups:
            return ()
        found = await resources(kind)
        attributes = Attributes(request.user, "get", found.group, found.version, found.plural, namespace="*", name="*")
        if await _may(authorizer, attributes):
            return ()
        what = f"(kind={kind.get('kind', '')}, apiVersion={kind.get('apiVersion', '')})"
        subject = _user_text(request.user)
        why = f'user {subject} must have "get" permission on all objects of the referenced paramKind {what}'
        return [field.forbidden(_KIND, why)]

    return Hooks(check=check)


def validating_binding_hooks(environment: Environment) -> Hooks:
    """The hooks for the Store of ValidatingAdmissionPolicyBindings."""
    return _binding_hooks(environment, VALIDATINGADMISSIONPOLICIES)


def mutating_binding_hooks(environment: Environment) -> Hooks:
    """The hooks for the Store of MutatingAdmissionPolicyBindings."""
    return _binding_hooks(environment, MUTATINGADMISSIONPOLICIES)


def _binding_hooks(environment: Environment, policy_kind: Kind) -> Hooks:
    """The hooks for bindings. The user has to be allowed to read the objects of the paramRef."""
    resources = _resources(environment)
    param_kinds = Lookup(environment.storage_for(resource_of(policy_kind)), policy_kind.resource, _param_kind)

    async def check(request: Request, subresource: str, new: Object, old: Object | None) -> Sequence[FieldError]:
        reference = objects.get(new, _REF)
        is_same = old is not None and all(
            objects.get(old, path) == objects.get(new, path) for path in (_REF, "spec.policyName")
        )
        if not reference or is_same or MASTERS in request.user.groups:
            return ()
        name, verb = reference.get("name") or "", "get" if reference.get("name") else "list"
        policy_name = objects.get(new, "spec.policyName") or ""
        param_kind = await _newest(param_kinds, policy_name)
        found = await resources(param_kind or {})
        namespace = reference.get("namespace") or ""
        attributes = Attributes(
            request.user, verb, found.group, found.version, found.plural, namespace=namespace, name=name
        )
        if await _may(environment.authorizer, attributes):
            return ()
        subject = f'user {_user_text(request.user)} does not have "{verb}" permission'
        why = f"{subject} on the object referenced by paramRef"
        if param_kind is None:
            what = f"unable to get policy {policy_name} to determine minimum required permissions"
            why = f"{what} and {subject} for all groups, versions and resources"
        return [field.forbidden(_REF, why)]

    return Hooks(check=check)


class _Parameters(NamedTuple):
    """The resource of a paramKind. A star stands for all groups, versions or resources."""

    group: str = "*"
    version: str = "*"
    plural: str = "*"


def _resources(environment: Environment) -> Callable[[Object], Awaitable[_Parameters]]:
    """A function that finds the resource of a paramKind. For a kind that is not served, it returns all resources of its
    version.
    """

    async def find(kind: Object) -> _Parameters:
        api_version = kind.get("apiVersion") or ""
        if not api_version or api_version.count("/") > 1:
            return _Parameters()
        group, _, version = api_version.rpartition("/")
        found = await environment.kinds.resources(api_version, kind.get("kind") or "")
        return _Parameters(group, version, found[0].plural if found else "*")

    return find


def _param_kind(policy: Object) -> Object:
    return objects.get(policy, _KIND) or {}


async def _newest(param_kinds: Lookup[Object], policy: str) -> Object | None:
    """The paramKind of a policy, empty when it has none; None when there is no such policy."""
    try:
        return await param_kinds.newest(policy)
    except errors.NotFound:
        return None


async def _may(authorizer: Authorizer, attributes: Attributes) -> bool:
    return (await authorizer.authorize(attributes)).is_allowed


def _user_text(user: UserInfo) -> str:
    """A user as Go prints the struct."""
    parts = (user.name, user.uid, text.value_text(list(user.groups)), text.value_text(dict(user.extra)))
    return f"&{{{' '.join(parts)}}}"
