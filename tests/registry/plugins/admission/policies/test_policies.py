"""Admission policies on a registry in memory: denials, warnings and changes."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import errors
from aio_apiserver.registry.controlplane.assembly import assemble, environment_of
from aio_apiserver.registry.controlplane.bootstrap.own_client import OwnClient
from aio_apiserver.registry.generic.access.users import UserInfo
from aio_apiserver.registry.generic.in_process_client import ResourcePath
from aio_apiserver.registry.generic.options import CreateOptions
from aio_apiserver.registry.generic.rest import Request
from tests.registry.foundations import foundation

GROUP = "admissionregistration.k8s.io"
MAPS = ResourcePath("", "v1", "configmaps")
SHOP = "shop"
CONFIG_MAPS = {
    "resourceRules": [
        {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"], "scope": "*"}
    ],
    "matchPolicy": "Equivalent",
    "namespaceSelector": {},
    "objectSelector": {},
}


@dataclass
class Cluster:
    """A registry, and a client that writes to it."""

    client: OwnClient
    groups: Any
    warnings: list[str] = field(default_factory=list)

    async def policy(self, spec: Object, binding: Object, *, kind: str = "validating") -> None:
        """Create a policy and a binding for all resources."""
        whole = {"failurePolicy": "Fail", "matchConstraints": CONFIG_MAPS, **spec}
        policies = ResourcePath(GROUP, "v1", f"{kind}admissionpolicies")
        bindings = ResourcePath(GROUP, "v1", f"{kind}admissionpolicybindings")
        await self.client.create_missing(policies, {"metadata": {"name": "p"}, "spec": whole})
        bound = {"metadata": {"name": "b"}, "spec": {"policyName": "p", **binding}}
        await self.client.create_missing(bindings, bound)

    async def create(self, data: dict[str, str], *, user: str = "jane") -> Object:
        """Write a ConfigMap."""
        store = self.groups[""]["v1"]["configmaps"]
        request = Request(
            user=UserInfo(name=user), version="v1", warn=self.warnings.append, namespace=SHOP, verb="create"
        )
        stored = await store.create(request, {"metadata": {"name": "c"}, "data": data}, CreateOptions(dry_run=("All",)))
        made: Object = stored.decode()
        return made


@pytest.fixture
async def cluster() -> AsyncIterator[Cluster]:
    async with foundation() as given:
        groups = assemble(environment_of(given))
        client = OwnClient(groups, given)
        await client.create_missing(ResourcePath("", "v1", "namespaces"), {"metadata": {"name": SHOP}})
        yield Cluster(client, groups)


DENY = {"validationActions": ["Deny"]}


async def test_a_policy_refuses_with_its_own_words_and_reason(cluster: Cluster) -> None:
    validation = {
        "expression": "int(object.data.n) < 5",
        "messageExpression": "'too much: ' + object.data.n",
        "reason": "Forbidden",
    }
    await cluster.policy({"validations": [validation]}, DENY)

    with pytest.raises(errors.Forbidden) as refusal:
        await cluster.create({"n": "7"})

    assert refusal.value.code == 403
    assert refusal.value.message.endswith("'p' with binding 'b' denied request: too much: 7")
    assert (await cluster.create({"n": "3"}))["data"] == {"n": "3"}


async def test_a_failing_expression_refuses_unless_failures_are_ignored(cluster: Cluster) -> None:
    await cluster.policy({"validations": [{"expression": "object.data.missing == 'x'"}]}, DENY)

    with pytest.raises(errors.Forbidden, match="resulted in error: no such key: missing"):
        await cluster.create({"n": "1"})


async def test_ignored_failures_let_pass(cluster: Cluster) -> None:
    spec = {"failurePolicy": "Ignore", "validations": [{"expression": "object.data.missing == 'x'"}]}
    await cluster.policy(spec, DENY)

    assert await cluster.create({"n": "1"})


async def test_costly_expressions_do_not_hold_the_event_loop(cluster: Cluster) -> None:
    """The watchdog of the tests measures it."""
    each = "object.data.all(k, object.data.all(j, {}))"
    spec = {
        "matchConditions": [{"name": "m", "expression": each.format("object.data[k] <= object.data[j]")}],
        "variables": [{"name": "all", "expression": each.format("object.data[k] + object.data[j] != 'z'")}],
        "validations": [
            {"expression": "variables.all && authorizer.group('').resource('pods').check('get').allowed()"}
        ],
    }
    await cluster.policy(spec, DENY)

    assert await cluster.create({f"k{number}": "x" for number in range(250)})


async def test_a_message_beyond_the_budget_is_the_usual_one(cluster: Cluster) -> None:
    costly = f"object.data.a.matches('{'x' * 400}')"  # 400,000 of 10 million each
    last = {"expression": "false", "messageExpression": f"{costly} ? 'long' : 'short'", "message": "no"}
    await cluster.policy({"validations": [*[{"expression": costly}] * 24, last]}, DENY)

    with pytest.raises(errors.Forbidden, match=r"denied request: no$"):
        await cluster.create({"a": "x" * 40_000})


async def test_a_binding_may_only_warn(cluster: Cluster) -> None:
    await cluster.policy({"validations": [{"expression": "false", "message": "no"}]}, {"validationActions": ["Warn"]})

    await cluster.create({"n": "1"})

    assert cluster.warnings == ["Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': no"]


async def test_conditions_say_whether_a_policy_is_asked(cluster: Cluster) -> None:
    condition = {"name": "not-jane", "expression": "request.userInfo.username != 'jane'"}
    await cluster.policy({"matchConditions": [condition], "validations": [{"expression": "false"}]}, DENY)

    assert await cluster.create({"n": "1"}, user="jane")
    with pytest.raises(errors.Forbidden):
        await cluster.create({"n": "1"}, user="joe")


async def test_parameters_and_variables_take_part(cluster: Cluster) -> None:
    limits = {"metadata": {"name": "limits"}, "data": {"max": "5"}}
    await cluster.client.create_missing(MAPS, limits, namespace=SHOP)
    spec = {
        "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
        "variables": [{"name": "n", "expression": "int(object.data.n)"}],
        "validations": [{"expression": "variables.n <= int(params.data.max)"}],
    }
    await cluster.policy(spec, {**DENY, "paramRef": {"name": "limits", "parameterNotFoundAction": "Deny"}})

    assert await cluster.create({"n": "5"})
    with pytest.raises(errors.Forbidden, match="failed expression"):
        await cluster.create({"n": "6"})


RULES: dict[str, Object] = {
    "validating": {"validations": [{"expression": "true"}]},
    "mutating": {
        "reinvocationPolicy": "Never",
        "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": "[JSONPatch{op: 'test', path: '/x'}]"}}],
    },
}


@pytest.mark.parametrize("kind", RULES)
@pytest.mark.parametrize("ignored", [False, True])
async def test_an_unserved_param_kind_refuses_all_that_the_policy_matches(
    cluster: Cluster, kind: str, ignored: bool
) -> None:
    spec = {
        **RULES[kind],
        "failurePolicy": "Ignore" if ignored else "Fail",
        "paramKind": {"apiVersion": "example.com/v1", "kind": "Widget"},
    }
    elsewhere = {"matchResources": {"objectSelector": {"matchLabels": {"no": "object"}}}}
    await cluster.policy(spec, elsewhere | (DENY if kind == "validating" else {}), kind=kind)

    if ignored:
        assert await cluster.create({"n": "1"})
        return
    with pytest.raises(errors.StatusError) as refusal:
        await cluster.create({"n": "1"})
    assert refusal.value.message.endswith(
        "failed to configure policy: failed to find resource referenced by paramKind: 'example.com/v1, Kind=Widget'"
    )


async def test_an_expression_asks_what_the_user_may_do(cluster: Cluster) -> None:
    expression = "authorizer.group('').resource('pods').namespace(request.namespace).check('get').allowed()"
    await cluster.policy({"validations": [{"expression": expression}]}, DENY)

    assert await cluster.create({"n": "1"})


async def test_policies_change_what_is_written(cluster: Cluster) -> None:
    merge = "Object{metadata: Object.metadata{labels: {'by': request.userInfo.username}}}"
    patch = "[JSONPatch{op: 'add', path: '/data/copy', value: object.data.n + '!'}]"
    spec = {
        "reinvocationPolicy": "Never",
        "mutations": [
            {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": merge}},
            {"patchType": "JSONPatch", "jsonPatch": {"expression": patch}},
        ],
    }
    await cluster.policy(spec, {}, kind="mutating")

    made = await cluster.create({"n": "1"})

    assert made["metadata"]["labels"] == {"by": "jane"}
    assert made["data"] == {"n": "1", "copy": "1!"}


async def test_a_patch_that_does_not_apply_refuses_the_write(cluster: Cluster) -> None:
    patch = "[JSONPatch{op: 'remove', path: '/data/none'}]"
    mutation = {"patchType": "JSONPatch", "jsonPatch": {"expression": patch}}
    await cluster.policy({"reinvocationPolicy": "Never", "mutations": [mutation]}, {}, kind="mutating")

    with pytest.raises(errors.Forbidden) as refusal:
        await cluster.create({"n": "1"})

    assert "Unable to remove nonexistent key: none" in refusal.value.message
