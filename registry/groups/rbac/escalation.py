"""Escalation: a user can grant rights that the user already holds, or any with the verbs `escalate` and `bind`.

The check runs between mutating and validating admission, before the object's own rules. It reads roles and bindings
from storage, so that a right counts as soon as it is granted.

Must hold: members of system:masters pass. An update that removes owner references and finalizers for a deletion passes.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import errors, objects
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.base.golang.text import quoted
from aio_apiserver.registry.generic.access.authorizer import Attributes as Question
from aio_apiserver.registry.generic.access.authorizer import Authorizer, joined
from aio_apiserver.registry.generic.access.users import MASTERS, UserInfo
from aio_apiserver.registry.generic.admission.interface import Admission, Attributes, Operation
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.lookups import Lookup, as_stored
from aio_apiserver.registry.generic.resource import resource_of
from aio_apiserver.registry.generic.rest import ReaderFor
from aio_apiserver.registry.groups.rbac import coverage
from aio_apiserver.registry.groups.rbac.bindings import CLUSTERROLEBINDINGS, ROLEBINDINGS
from aio_apiserver.registry.groups.rbac.clusterroles import CLUSTERROLES
from aio_apiserver.registry.groups.rbac.policy import CLUSTER_ROLE, ROLE, RBACPolicy, RoleKey, binding_of, role_of
from aio_apiserver.registry.groups.rbac.roles import ROLES

_FULL_AUTHORITY = (
    {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]},
    {"verbs": ["*"], "nonResourceURLs": ["*"]},
)
_ONLY_ADMINISTRATORS = "must have cluster-admin privileges to use the aggregationRule"
_RELEASING = ("ownerReferences", "finalizers", "selfLink", "managedFields")
"""The metadata that the garbage collector changes."""


class Guarded(Struct, frozen=True):
    """Admission for one of the four kinds, with the check. `is_named`: the path of the request has the name."""

    admission: Admission
    guard: "Guard"
    is_named: bool

    async def mutate(self, attributes: Attributes) -> None:
        await self.admission.mutate(attributes)
        if attributes.operation in (Operation.CREATE, Operation.UPDATE):
            await self.guard.check(attributes, name=attributes.name if self.is_named else "")

    async def validate(self, attributes: Attributes) -> None:
        await self.admission.validate(attributes)


class Guard(Struct, frozen=True):
    """Checks whether a user may write a role or binding."""

    authorizer: Authorizer
    storage_for: ReaderFor

    async def check(self, attributes: Attributes, *, name: str) -> None:
        """Raise Forbidden unless the user may write the object. `name` is the name in the path."""
        obj, old = attributes.obj, attributes.old
        assert obj is not None
        if MASTERS in attributes.user.groups or (old is not None and _only_releases(obj, old)):
            return
        if attributes.resource.resource in (ROLES.plural, CLUSTERROLES.plural):
            await self._check_role(attributes, obj, old or {}, name)
        else:
            await self._check_binding(attributes, obj)

    async def _check_role(self, attributes: Attributes, obj: Object, old: Object, name: str) -> None:
        group, plural = attributes.resource.group, attributes.resource.resource
        if await self._may(attributes, "escalate", group, plural, name):
            return
        await self._check_rules(attributes, obj, obj.get("rules") or ())
        path = "aggregationRule.clusterRoleSelectors"
        if plural == CLUSTERROLES.plural and (objects.get(obj, path) or objects.get(old, path)):
            policy = await self._policy(attributes.namespace)
            held, _ = policy.rules_for(attributes.user, attributes.namespace)
            if coverage.missing(held, _FULL_AUTHORITY):
                raise errors.Forbidden(attributes.resource, _name(obj), why=_ONLY_ADMINISTRATORS)

    async def _check_binding(self, attributes: Attributes, obj: Object) -> None:
        role_ref = obj.get("roleRef") or {}
        role = RoleKey.of(role_ref, attributes.namespace)
        kind = {ROLE: ROLES, CLUSTER_ROLE: CLUSTERROLES}.get(role.kind)
        if kind is None:
            raise errors.StatusError(f"unsupported role reference kind: {quote(role.kind)}")
        if await self._may(attributes, "bind", role_ref.get("apiGroup", ""), kind.plural, role.name):
            return
        if kind is ROLES and not role.namespace:
            raise errors.BadRequest("Namespace parameter required.")
        key = f"{role.namespace}/{role.name}" if role.namespace else role.name
        stored = await self._lookup(kind).newest(key, reported=attributes.resource)
        await self._check_rules(attributes, obj, stored.get("rules") or ())

    async def _check_rules(self, attributes: Attributes, obj: Object, rules: Sequence[Mapping[str, Any]]) -> None:
        if not rules:
            return
        policy = await self._policy(attributes.namespace)
        # As in kube-apiserver, a missing role is reported for the resource of the request.
        held, wrong = policy.rules_for(attributes.user, attributes.namespace, reported=attributes.resource)
        try:
            rights = coverage.missing(held, rules)
        except coverage.TooManyRights as exc:
            why = f"the rules combine to more than {coverage.MOST_RIGHTS} rights, which cannot be checked"
            raise errors.Forbidden(attributes.resource, _name(obj), why=why) from exc
        if rights:
            why = _refusal(attributes.user, coverage.described(rights), wrong)
            raise errors.Forbidden(attributes.resource, _name(obj), why=why)

    async def _may(self, attributes: Attributes, verb: str, group: str, resource: str, name: str) -> bool:
        question = Question(attributes.user, verb, group, "*", resource, namespace=attributes.namespace, name=name)
        return (await self.authorizer.authorize(question)).is_allowed

    async def _policy(self, namespace: str) -> RBACPolicy:
        """All roles and bindings of the cluster, and of the namespace."""
        policy = RBACPolicy()
        for kind in (CLUSTERROLES, ROLES) if namespace else (CLUSTERROLES,):
            for role in await self._all(kind, namespace):
                policy.put_role(_key(role), role_of(role))
        for kind in (CLUSTERROLEBINDINGS, ROLEBINDINGS) if namespace else (CLUSTERROLEBINDINGS,):
            for binding in await self._all(kind, namespace):
                metadata = binding["metadata"]
                policy.put_binding(metadata.get("namespace", ""), metadata["name"], binding_of(binding))
        return policy

    async def _all(self, kind: Kind, namespace: str) -> Sequence[Object]:
        return await self._lookup(kind).all_newest(f"{namespace}/" if kind.is_namespaced else "")

    def _lookup(self, kind: Kind) -> Lookup[Object]:
        return Lookup(self.storage_for(resource_of(kind)), kind.resource, as_stored)


def _key(role: Object) -> RoleKey:
    return RoleKey.at(role["metadata"].get("namespace", ""), role["metadata"]["name"])


def _name(obj: Object) -> str:
    name: str = obj["metadata"].get("name", "")
    return name


def _refusal(user: UserInfo, missing: Sequence[str], wrong: Sequence[str]) -> str:
    groups = quoted(user.groups)
    lines = "\n".join(missing)
    text = (
        f"user {quote(user.name)} (groups={groups}) is attempting to grant RBAC permissions not currently held:\n"
        f"{lines}"
    )
    return f"{text}; resolution errors: [{joined(wrong)}]" if wrong else text


def _only_releases(new: Object, old: Object) -> bool:
    """Whether the update changes nothing but metadata that the garbage collector changes."""
    return _without_releasing(new) == _without_releasing(old)


def _without_releasing(obj: Object) -> Object:
    metadata = {name: value for name, value in obj["metadata"].items() if name not in _RELEASING}
    return {**obj, "metadata": metadata}
