"""Finalizers of changed objects: those without a domain are Kubernetes' own, but for a few kinds."""

from typing import Any

import pytest

from aio_apiserver.registry.generic.strategy import Strategy
from aio_apiserver.registry.groups.apps.deployments import DEPLOYMENTS
from aio_apiserver.registry.groups.coordination.leases import LEASES
from aio_apiserver.registry.groups.core.events.events import EVENTS
from aio_apiserver.registry.groups.core.namespaces.namespaces import FINALIZE_STRATEGY
from aio_apiserver.registry.groups.core.nodes.nodes import NODES
from aio_apiserver.registry.groups.core.pods.pods import PODS
from aio_apiserver.registry.groups.core.services.services import SERVICES
from aio_apiserver.registry.groups.events.provider import KINDS as EVENT_KINDS
from aio_apiserver.registry.groups.node.runtimeclasses import RUNTIMECLASSES
from tests.registry.defaulted import CONTEXT

OBJECT: dict[str, Any] = {"metadata": {"name": "a", "uid": "u", "finalizers": ["mine"]}, "spec": {}}


def count(strategy: Strategy | None) -> int:
    assert strategy is not None
    found = strategy.validate_update(CONTEXT, OBJECT, OBJECT)
    return sum(one.path == "metadata.finalizers[0]" for one in found)


@pytest.mark.parametrize(
    "strategy",
    [kind.status_strategy for kind in (SERVICES, NODES, PODS, DEPLOYMENTS)]
    + [FINALIZE_STRATEGY, EVENT_KINDS[0].strategy],
)
def test_a_subresource_tells_of_an_unknown_finalizer_once(strategy: Strategy) -> None:
    assert count(strategy) == 1


@pytest.mark.parametrize("kind", [NODES])
def test_a_kind_that_is_looked_at_like_a_new_one_tells_of_it_twice(kind: Any) -> None:
    assert count(kind.strategy) == 2


@pytest.mark.parametrize("kind", [LEASES, RUNTIMECLASSES, EVENTS])
def test_some_kinds_take_any_finalizer(kind: Any) -> None:
    assert count(kind.strategy) == 0
