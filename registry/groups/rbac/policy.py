"""Policy: RBAC roles and bindings in memory, indexed by the subjects of the bindings.

    cluster bindings              user -> bindings, group -> bindings
    bindings of namespace "prod"  user -> bindings, group -> bindings

Pure: the caller adds and removes the objects. Must hold: a binding finds Roles of its own namespace alone. A
RoleBinding counts in its own namespace alone. A request without a namespace sees cluster bindings alone.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from msgspec import Struct, field

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import errors
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.base.names import GroupResource
from aio_apiserver.registry.generic.access.authorizer import Decision, Verdict
from aio_apiserver.registry.generic.access.users import UserInfo, service_account_name
from aio_apiserver.registry.groups.rbac.policy_rules import PolicyRule, compiled

GROUP = "rbac.authorization.k8s.io"
USER, GROUP_KIND, SERVICE_ACCOUNT = "User", "Group", "ServiceAccount"
ROLE, CLUSTER_ROLE = "Role", "ClusterRole"


class RoleKey(NamedTuple):
    """The kind, namespace and name of a role. The namespace of a ClusterRole is empty."""

    kind: str
    namespace: str
    name: str

    @classmethod
    def at(cls, namespace: str, name: str) -> "RoleKey":
        """The key of a Role in a namespace, or of a ClusterRole."""
        return cls(ROLE if namespace else CLUSTER_ROLE, namespace, name)

    @classmethod
    def of(cls, role_ref: Mapping[str, Any], binding_namespace: str) -> "RoleKey":
        """The key of the role that a roleRef names."""
        kind = role_ref.get("kind", "")
        return cls(kind, binding_namespace if kind == ROLE else "", role_ref.get("name", ""))


class _Subject(Struct, frozen=True):
    """A user or group of a binding, and the decision for it. A service account is a user."""

    kind: str
    name: str
    allowed: Decision

    def is_for(self, user: UserInfo) -> bool:
        return self.name == user.name if self.kind == USER else self.name in user.groups


class RBACBinding(Struct, frozen=True):
    """The role and the subjects of a binding."""

    role: RoleKey
    subjects: Sequence[_Subject]

    def allowed(self, user: UserInfo) -> Decision:
        """The decision for a user that the role allows. The reason names the first matching subject."""
        return next(subject.allowed for subject in self.subjects if subject.is_for(user))


def binding_of(obj: Object) -> RBACBinding:
    """The facts of a RoleBinding, or of a ClusterRoleBinding (an object without a namespace)."""
    metadata, role_ref = obj["metadata"], obj.get("roleRef") or {}
    namespace, name = metadata.get("namespace", ""), metadata["name"]
    what = f'RoleBinding "{name}/{namespace}"' if namespace else f'ClusterRoleBinding "{name}"'
    role = RoleKey.of(role_ref, namespace)
    reason = f"RBAC: allowed by {what} of {role.kind} {quote(role.name)} to "
    subjects = [_subject_of(subject, namespace, reason) for subject in obj.get("subjects") or ()]
    return RBACBinding(role, tuple(filter(None, subjects)))


def role_of(obj: Object) -> tuple[PolicyRule, ...]:
    """The rules of a Role or ClusterRole."""
    return compiled(obj.get("rules"))


def _subject_of(subject: Mapping[str, Any], namespace: str, reason: str) -> _Subject | None:
    kind, name = subject.get("kind", ""), subject.get("name", "")
    if kind in (USER, GROUP_KIND):
        return _Subject(kind, name, Decision(Verdict.ALLOW, f"{reason}{kind} {quote(name)}"))
    namespace = subject.get("namespace") or namespace
    if kind != SERVICE_ACCOUNT or not namespace:
        return None
    allowed = Decision(Verdict.ALLOW, f"{reason}{kind} {quote(f'{name}/{namespace}')}")
    return _Subject(USER, service_account_name(namespace, name), allowed)


_Bindings = dict[str, dict[str, RBACBinding]]
"""Bindings by their name, for each name of a subject."""


class _Scope(Struct, frozen=True):
    """The bindings of one namespace, or of the cluster."""

    by_name: dict[str, RBACBinding] = field(default_factory=dict)
    users: _Bindings = field(default_factory=dict)
    groups: _Bindings = field(default_factory=dict)

    def put(self, name: str, binding: RBACBinding | None) -> None:
        self._remove(name)
        if binding is None:
            return
        self.by_name[name] = binding
        for subject in binding.subjects:
            self._index(subject.kind).setdefault(subject.name, {})[name] = binding

    def _remove(self, name: str) -> None:
        binding = self.by_name.pop(name, None)
        for subject in binding.subjects if binding else ():
            index = self._index(subject.kind)
            bindings = index.get(subject.name, {})
            bindings.pop(name, None)
            if not bindings:
                index.pop(subject.name, None)

    def bindings_of(self, user: UserInfo) -> Iterator[RBACBinding]:
        """The bindings of a user. A binding may come several times."""
        if (mine := self.users.get(user.name)) is not None:
            yield from mine.values()
        for group in user.groups:
            if (ours := self.groups.get(group)) is not None:
                yield from ours.values()

    def _index(self, kind: str) -> _Bindings:
        return self.users if kind == USER else self.groups


_NO_SCOPE = _Scope()


class RBACPolicy:
    """All roles and bindings."""

    def __init__(self) -> None:
        self._roles: dict[RoleKey, tuple[PolicyRule, ...]] = {}
        self._cluster = _Scope()
        self._namespaces: dict[str, _Scope] = {}

    def put_role(self, key: RoleKey, rules: tuple[PolicyRule, ...] | None) -> None:
        """Add or replace a role. None removes it."""
        if rules is None:
            self._roles.pop(key, None)
        else:
            self._roles[key] = rules

    def put_binding(self, namespace: str, name: str, binding: RBACBinding | None) -> None:
        """Add or replace a binding. None removes it."""
        scope = self._namespaces.setdefault(namespace, _Scope()) if namespace else self._cluster
        scope.put(name, binding)
        if namespace and not scope.by_name:
            del self._namespaces[namespace]

    def bindings_of(self, user: UserInfo, namespace: str) -> Iterator[RBACBinding]:
        """The bindings of a user in the cluster, then those in the namespace. A binding may come several times."""
        yield from self._cluster.bindings_of(user)
        if namespace:
            yield from self._namespaces.get(namespace, _NO_SCOPE).bindings_of(user)

    def rules_of(self, role: RoleKey) -> tuple[PolicyRule, ...] | None:
        """The rules of a role; None when it does not exist."""
        return self._roles.get(role)

    def rules_for(
        self, user: UserInfo, namespace: str, reported: GroupResource | None = None
    ) -> tuple[list[PolicyRule], list[str]]:
        """All rules that apply to a user, and the messages about bindings to missing roles.

        reported: the resource that these messages name; None for the kind of the role, as an authorizer does.
        """
        rules: list[PolicyRule] = []
        wrong: list[str] = []
        for binding in {id(binding): binding for binding in self.bindings_of(user, namespace)}.values():
            found = self.rules_of(binding.role)
            if found is None:
                wrong.append(missing(binding.role, reported))
            else:
                rules += found
        return rules, list(dict.fromkeys(wrong))


def missing(role: RoleKey, reported: GroupResource | None = None) -> str:
    """The message about a binding to a missing role."""
    if role.kind not in (ROLE, CLUSTER_ROLE):
        return f"unsupported role reference kind: {quote(role.kind)}"
    return errors.NotFound(reported or GroupResource(GROUP, role.kind.lower()), role.name).message
