"""roles: the bootstrap roles and bindings, from the fixtures that upstream's tests compare the policy with.

plugin/pkg/auth/authorizer/rbac/bootstrappolicy/testdata has what the policy is with the default feature gates. Must
hold: an object of another kind, and a field that no role and no binding has, is an error.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from scripts.upstream.facts.release import Release
from scripts.upstream.problems import NotUnderstood

FOLDER = "plugin/pkg/auth/authorizer/rbac/bootstrappolicy/testdata/"
FILES = (
    "cluster-roles",
    "controller-roles",
    "cluster-role-bindings",
    "controller-role-bindings",
    "namespace-roles",
    "namespace-role-bindings",
)
_GROUP = "rbac.authorization.k8s.io"
PLURALS = {
    "ClusterRole": "clusterroles",
    "ClusterRoleBinding": "clusterrolebindings",
    "Role": "roles",
    "RoleBinding": "rolebindings",
}
_BOOTSTRAPPING = ("kubernetes.io/bootstrapping", "rbac-defaults")
_AUTO_UPDATE = {f"rbac.authorization.kubernetes.io/{name}": "true" for name in ("autoupdate",)}

_RULE = ("verbs", "apiGroups", "resources", "resourceNames", "nonResourceURLs")
"""The fields of a rule, in the order of the Go struct."""

Row = Mapping[str, Any]
Roles = Mapping[str, Sequence[Row]]
"""The objects by plural, without what all of them share."""


def of_release(release: Release) -> Roles:
    """The roles and bindings of a release, sorted by namespace and name. Raises NotUnderstood."""
    found: dict[str, dict[tuple[str, str], Row]] = {plural: {} for plural in PLURALS.values()}
    for name in FILES:
        path = f"{FOLDER}{name}.yaml"
        for item in yaml.safe_load(release.tree.read(path))["items"]:
            if item.get("kind") not in PLURALS:
                raise NotUnderstood(path, 1, f"no role and no binding: {item.get('kind')}")
            row = _row(path, item)
            found[PLURALS[item["kind"]]][row.get("namespace", ""), row["name"]] = row
    return {plural: [rows[key] for key in sorted(rows)] for plural, rows in found.items()}


def _row(path: str, item: Mapping[str, Any]) -> Row:
    metadata = dict(item["metadata"])
    labels, annotations = dict(metadata.pop("labels")), metadata.pop("annotations")
    metadata.pop("creationTimestamp", None)
    if labels.pop(_BOOTSTRAPPING[0], "") != _BOOTSTRAPPING[1] or annotations != _AUTO_UPDATE:
        raise NotUnderstood(path, 1, f"{metadata['name']} has other labels or annotations than all bootstrap roles")
    row = {"name": metadata.pop("name"), **metadata}
    if metadata.keys() - {"namespace"}:
        raise NotUnderstood(path, 1, f"{row['name']} has metadata that the reader does not know")
    if labels:
        row["labels"] = labels
    for name, value in item.items():
        if name not in {"apiVersion", "kind", "metadata"} and value is not None:
            row[name] = _MEMBERS[name](value) if name in _MEMBERS else _unknown(path, name)
    return row


def _subjects(value: Any) -> Any:
    return [_without_group(one) for one in value]


def _without_group(reference: Mapping[str, Any]) -> Mapping[str, Any]:
    """A reference without the group that it has by default."""
    return {name: value for name, value in reference.items() if (name, value) != ("apiGroup", _GROUP)}


def _rules(value: Any) -> Any:
    return [{name: rule[name] for name in _RULE if name in rule} for rule in value]


def _same(value: Any) -> Any:
    return value


def _unknown(path: str, name: str) -> Any:
    raise NotUnderstood(path, 1, f"a role or a binding has no field {name}")


_MEMBERS = {"aggregationRule": _same, "roleRef": _without_group, "rules": _rules, "subjects": _subjects}
