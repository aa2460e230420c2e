"""Matching: whether a write matches, and in which version."""

from typing import Any

import pytest
from msgspec.structs import replace

from aio_apiserver.registry.base.errors import NotFound
from aio_apiserver.registry.base.names import GroupResource, GroupVersionKind
from aio_apiserver.registry.generic.admission.interface import Attributes, Operation
from aio_apiserver.registry.generic.forms import forms_of
from aio_apiserver.registry.groups.autoscaling.horizontalpodautoscalers import HORIZONTALPODAUTOSCALERS
from aio_apiserver.registry.machinery.schema import builtin
from aio_apiserver.registry.plugins.admission.matching import Matcher, criteria_of_resources, criteria_of_webhook
from aio_apiserver.storage.interface import Storage
from tests.registry.plugins.admission.writes import write

NAMESPACES = GroupResource("", "namespaces")
PODS = {"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"]}


def rule(**changes: Any) -> dict[str, Any]:
    return {**PODS, **changes}


def a_pod(**metadata: Any) -> Attributes:
    obj = {"metadata": {"name": "p", **metadata}}
    return replace(write(obj), kind=GroupVersionKind("", "v1", "Pod"), resource=GroupResource("", "pods"))


def an_autoscaler(version: str) -> Attributes:
    kind = HORIZONTALPODAUTOSCALERS
    return replace(
        write({"metadata": {"name": "h"}}),
        resource=kind.resource,
        version=version,
        kind=GroupVersionKind(kind.group, version, kind.kind),
        forms=forms_of(kind, builtin()),
    )


@pytest.mark.parametrize(
    ("given", "matches"),
    [
        (rule(), True),
        (rule(operations=["UPDATE", "DELETE"]), False),
        (rule(operations=["*"], apiGroups=["*"], apiVersions=["*"], resources=["*"]), True),
        (rule(resources=["*/*"]), True),
        (rule(resources=["pods/status"]), False),
        (rule(scope="Namespaced"), True),
        (rule(scope="Cluster"), False),
        (rule(resourceNames=["p"]), True),
        (rule(resourceNames=["q"]), False),
    ],
)
async def test_a_rule_names_operations_and_resources(kept: Storage, given: dict[str, Any], *, matches: bool) -> None:
    matcher = Matcher(kept, builtin())

    found = await matcher.match(a_pod(), criteria_of_webhook({"rules": [given]}))

    assert (found is not None) is matches


@pytest.mark.parametrize(("policy", "seen"), [("Equivalent", "v1"), ("Exact", None)])
async def test_another_version_of_the_same_objects_is_equivalent(kept: Storage, policy: str, seen: str | None) -> None:
    given = rule(apiGroups=["autoscaling"], apiVersions=["v1"], resources=["horizontalpodautoscalers"])

    found = await Matcher(kept, builtin()).match(
        an_autoscaler("v2"), criteria_of_webhook({"rules": [given], "matchPolicy": policy})
    )

    assert (found.version if found is not None else None) == seen


async def test_the_version_of_the_request_is_before_all_others(kept: Storage) -> None:
    given = rule(apiGroups=["autoscaling"], apiVersions=["*"], resources=["horizontalpodautoscalers"])

    found = await Matcher(kept, builtin()).match(
        an_autoscaler("v1"), criteria_of_webhook({"rules": [given], "matchPolicy": "Equivalent"})
    )

    assert found is not None
    assert found.kind == GroupVersionKind("autoscaling", "v1", "HorizontalPodAutoscaler")


async def test_a_policy_hears_of_everything_but_what_it_excludes(kept: Storage) -> None:
    matcher = Matcher(kept, builtin())

    assert await matcher.match(a_pod(), criteria_of_resources({})) is not None
    assert await matcher.match(a_pod(), criteria_of_resources({"excludeResourceRules": [PODS]})) is None


async def test_a_namespace_is_selected_by_its_labels(kept: Storage) -> None:
    await kept.create("default", {"metadata": {"name": "default", "labels": {"a": "b"}}})
    matcher = Matcher(kept, builtin())

    async def matches(value: str) -> bool:
        selector = {"matchLabels": {"a": value}}
        return await matcher.match(a_pod(), criteria_of_resources({"namespaceSelector": selector})) is not None

    assert await matches("b")
    assert not await matches("c")


async def test_a_new_namespace_is_selected_by_the_labels_that_it_will_have(kept: Storage) -> None:
    obj = {"metadata": {"name": "n", "labels": {"a": "b"}}}
    making = replace(write(obj), resource=NAMESPACES, kind=GroupVersionKind("", "v1", "Namespace"), namespace="")
    selector = {"matchExpressions": [{"key": "a", "operator": "Exists"}]}

    found = await Matcher(kept, builtin()).match(making, criteria_of_resources({"namespaceSelector": selector}))

    assert found is not None


async def test_a_missing_namespace_is_an_error_for_what_would_match(kept: Storage) -> None:
    matcher = Matcher(kept, builtin())
    selector = {"matchLabels": {"a": "b"}}

    with pytest.raises(NotFound):
        await matcher.match(a_pod(), criteria_of_resources({"namespaceSelector": selector}))
    other = {"namespaceSelector": selector, "resourceRules": [rule(resources=["secrets"])]}
    assert await matcher.match(a_pod(), criteria_of_resources(other)) is None


async def test_an_object_is_selected_by_what_it_is_or_was(kept: Storage) -> None:
    criteria = criteria_of_resources({"objectSelector": {"matchLabels": {"a": "b"}}})
    matcher = Matcher(kept, builtin())
    changed = replace(a_pod(), operation=Operation.UPDATE, old={"metadata": {"labels": {"a": "b"}}})

    assert await matcher.match(changed, criteria) is not None
    assert await matcher.match(a_pod(), criteria) is None
