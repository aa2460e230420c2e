"""RBAC against a plain implementation of its rules: both give the same decisions."""

import itertools
import random
from collections.abc import Iterator
from typing import Any

import pytest

from aio_apiserver.registry.base.names import GroupResource
from aio_apiserver.registry.generic.access.authorizer import Attributes
from aio_apiserver.registry.generic.access.users import UserInfo
from aio_apiserver.registry.groups.rbac.policy import RBACPolicy, RoleKey, binding_of, role_of
from aio_apiserver.registry.plugins.authorization.rbac import decide

Object = dict[str, Any]

USERS = (
    UserInfo(name="alice", groups=("devs", "system:authenticated")),
    UserInfo(name="bob", groups=("ops", "system:authenticated")),
    UserInfo(name="devs", groups=("system:authenticated",)),
    UserInfo(name="system:serviceaccount:a:bot", groups=("system:serviceaccounts", "system:serviceaccounts:a")),
    UserInfo(name="system:serviceaccount:b:bot", groups=("system:serviceaccounts", "system:serviceaccounts:b")),
    UserInfo(name="system:anonymous", groups=("system:unauthenticated",)),
)
VERBS = ("get", "list", "create", "*", "Get")
RESOURCES = (
    ("", "pods", ""),
    ("", "pods", "log"),
    ("apps", "deployments", "scale"),
    ("", "secrets", ""),
    ("x", "*", ""),
)
NAMESPACES = ("", "a", "b")
NAMES = ("", "one", "two")
PATHS = ("/healthz", "/api", "/api/v1", "/logs/x", "/")


def written_rule(pick: random.Random) -> Object:
    if pick.random() < 0.2:
        urls = pick.sample(["/healthz", "/api/*", "*", "/logs*", "/"], 2)
        return {"verbs": pick.sample(["get", "post", "*"], 1), "nonResourceURLs": urls}
    return {
        "verbs": pick.sample(["get", "list", "create", "*"], pick.randint(1, 2)),
        "apiGroups": pick.sample(["", "apps", "*"], 1),
        "resources": pick.sample(["pods", "pods/log", "*/scale", "*/log", "secrets", "deployments/scale", "*"], 2),
        "resourceNames": pick.sample(["one", "two"], pick.choice([0, 0, 1])),
    }


def written_subject(pick: random.Random) -> Object:
    return pick.choice(
        [
            {"kind": "User", "name": pick.choice(["alice", "bob", "devs", "system:anonymous"])},
            {"kind": "Group", "name": pick.choice(["devs", "ops", "system:authenticated", "alice"])},
            {"kind": "ServiceAccount", "name": "bot", "namespace": pick.choice(["a", "b"])},
            {"kind": "ServiceAccount", "name": "bot"},
        ]
    )


class World:
    """Random roles and bindings."""

    def __init__(self, seed: int) -> None:
        pick = random.Random(seed)
        self.roles: list[Object] = [
            {"metadata": self._metadata(f"role{n}", namespace), "rules": [written_rule(pick) for _ in range(2)]}
            for n, namespace in itertools.product(range(2), NAMESPACES)
        ]
        self.bindings = [self._binding(pick, f"binding{n}") for n in range(5)]

    @staticmethod
    def _metadata(name: str, namespace: str) -> Object:
        return {"name": name, **({"namespace": namespace} if namespace else {})}

    def _binding(self, pick: random.Random, name: str) -> Object:
        namespace = pick.choice(NAMESPACES)
        kind = pick.choice(["Role", "ClusterRole"]) if namespace else "ClusterRole"
        return {
            "metadata": self._metadata(name, namespace),
            "roleRef": {"kind": kind, "name": pick.choice(["role0", "role1", "gone"])},
            "subjects": [written_subject(pick) for _ in range(2)],
        }

    def policy(self) -> RBACPolicy:
        policy = RBACPolicy()
        for role in self.roles:
            policy.put_role(RoleKey.at(role["metadata"].get("namespace", ""), role["metadata"]["name"]), role_of(role))
        for binding in self.bindings:
            metadata = binding["metadata"]
            policy.put_binding(metadata.get("namespace", ""), metadata["name"], binding_of(binding))
        return policy

    def allows(self, asked: Attributes) -> bool:
        """The rules of RBAC as documented, without an index."""
        for binding in self.bindings:
            namespace = binding["metadata"].get("namespace", "")
            if namespace and namespace != asked.namespace:
                continue
            if any(self._is_meant(subject, asked.user, namespace) for subject in binding["subjects"]):
                bound = [role for role in self.roles if self._is_bound(role, binding["roleRef"], namespace)]
                if any(self._rule_allows(rule, asked) for role in bound for rule in role["rules"]):
                    return True
        return False

    def _is_bound(self, role: Object, role_ref: Object, namespace: str) -> bool:
        wanted = namespace if role_ref["kind"] == "Role" else ""
        metadata = role["metadata"]
        return bool(metadata["name"] == role_ref["name"] and metadata.get("namespace", "") == wanted)

    def _is_meant(self, subject: Object, user: UserInfo, namespace: str) -> bool:
        if subject["kind"] == "User":
            return bool(subject["name"] == user.name)
        if subject["kind"] == "Group":
            return subject["name"] in user.groups
        place = subject.get("namespace") or namespace
        return bool(place) and user.name == f"system:serviceaccount:{place}:{subject['name']}"

    def _rule_allows(self, rule: Object, asked: Attributes) -> bool:
        if not {"*", asked.verb} & set(rule["verbs"]):
            return False
        if not asked.is_resource:
            return any(self._url_fits(url, asked.path) for url in rule.get("nonResourceURLs", ()))
        resource = f"{asked.resource}/{asked.subresource}" if asked.subresource else asked.resource
        spellings = {"*", resource, *([f"*/{asked.subresource}"] if asked.subresource else [])}
        names = rule.get("resourceNames")
        return bool(
            {"*", asked.group} & set(rule.get("apiGroups", ()))
            and spellings & set(rule.get("resources", ()))
            and (not names or asked.name in names)
        )

    def _url_fits(self, url: str, path: str) -> bool:
        return url in ("*", path) or (url.endswith("*") and path.startswith(url.rstrip("*")))


def questions() -> Iterator[Attributes]:
    for user, verb, namespace, name, (group, resource, subresource) in itertools.product(
        USERS, VERBS, NAMESPACES, NAMES, RESOURCES
    ):
        yield Attributes(user, verb, group, "v1", resource, subresource, namespace, name)
    for user, verb, path in itertools.product(USERS, VERBS, PATHS):
        yield Attributes(user, verb, path=path, is_resource=False)


@pytest.mark.parametrize("seed", range(8))
def test_every_decision_is_that_of_the_written_rules(seed: int) -> None:
    world = World(seed)
    policy = world.policy()

    wrong = [asked for asked in questions() if decide(policy, asked).is_allowed is not world.allows(asked)]

    assert wrong == []


@pytest.mark.parametrize("seed", range(4))
def test_what_is_taken_back_counts_no_more(seed: int) -> None:
    world = World(seed)
    policy = world.policy()
    for binding in world.bindings:
        policy.put_binding(binding["metadata"].get("namespace", ""), binding["metadata"]["name"], None)

    assert not any(decide(policy, asked).is_allowed for asked in questions())


def test_a_replaced_binding_counts_for_its_new_subjects_alone() -> None:
    policy = RBACPolicy()
    policy.put_role(RoleKey.at("", "all"), role_of({"rules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}]}))
    for name in ("alice", "bob"):
        binding = {
            "metadata": {"name": "b"},
            "roleRef": {"kind": "ClusterRole", "name": "all"},
            "subjects": [{"kind": "User", "name": name}],
        }
        policy.put_binding("", "b", binding_of(binding))

    def may(name: str) -> bool:
        return decide(policy, Attributes(UserInfo(name=name), "get", path="/x", is_resource=False)).is_allowed

    assert (may("alice"), may("bob")) == (False, True)


def test_the_reason_names_the_binding_and_the_first_subject_that_fits() -> None:
    policy = RBACPolicy()
    policy.put_role(
        RoleKey.at("ns", "r"), role_of({"rules": [{"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}]})
    )
    binding = {
        "metadata": {"name": "b", "namespace": "ns"},
        "roleRef": {"kind": "Role", "name": "r"},
        "subjects": [{"kind": "Group", "name": "devs"}, {"kind": "User", "name": "alice"}],
    }
    policy.put_binding("ns", "b", binding_of(binding))

    decision = decide(policy, Attributes(USERS[0], "get", "", "v1", "pods", namespace="ns"))

    assert decision.reason == 'RBAC: allowed by RoleBinding "b/ns" of Role "r" to Group "devs"'


def test_a_missing_role_is_told_when_nothing_else_allows() -> None:
    policy = RBACPolicy()
    binding = {
        "metadata": {"name": "b"},
        "roleRef": {"kind": "ClusterRole", "name": "gone"},
        "subjects": [{"kind": "User", "name": "alice"}],
    }
    policy.put_binding("", "b", binding_of(binding))

    decision = decide(policy, Attributes(USERS[0], "get", "", "v1", "pods"))

    assert not decision.is_allowed
    assert decision.reason == 'RBAC: clusterrole.rbac.authorization.k8s.io "gone" not found'


def test_a_missing_role_is_told_for_the_resource_that_a_refused_grant_writes() -> None:
    policy = RBACPolicy()
    binding = {
        "metadata": {"name": "b"},
        "roleRef": {"kind": "ClusterRole", "name": "gone"},
        "subjects": [{"kind": "User", "name": "alice"}],
    }
    policy.put_binding("", "b", binding_of(binding))

    _, wrong = policy.rules_for(USERS[0], "", reported=GroupResource("rbac.authorization.k8s.io", "roles"))

    assert wrong == ['roles.rbac.authorization.k8s.io "gone" not found']
