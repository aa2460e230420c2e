"""Tests the CIDRs of network policies, new and legacy ones."""

from typing import Any

from aio_apiserver.registry.groups.networking.networkpolicies import NETWORKPOLICIES
from tests.registry.defaulted import CONTEXT, created, updated


def policy(block: dict[str, Any]) -> dict[str, Any]:
    return {"spec": {"podSelector": {}, "egress": [{"to": [{"ipBlock": block}]}]}}


def errors(new: dict[str, Any], old: dict[str, Any] | None = None) -> list[str]:
    strategy = NETWORKPOLICIES.strategy
    found = strategy.validate(CONTEXT, new) if old is None else strategy.validate_update(CONTEXT, new, old)
    return [one.path for one in found]


def test_a_policy_with_egress_rules_has_both_policy_types() -> None:
    made = created(NETWORKPOLICIES, policy({"cidr": "10.0.0.0/8"}))

    assert made["spec"]["policyTypes"] == ["Ingress", "Egress"]


def test_an_update_keeps_a_legacy_cidr_with_a_warning() -> None:
    old = created(NETWORKPOLICIES, policy({"cidr": "010.0.0.0/8", "except": ["10.1.0.0/16"]}))
    new = updated(NETWORKPOLICIES, old, policy({"cidr": "010.0.0.0/8", "except": ["10.2.0.0/16"]}))

    assert errors(old) == ["spec.egress[0].to[0].ipBlock.cidr"]
    assert errors(new, old) == []
    assert len(NETWORKPOLICIES.strategy.warnings_on_update(CONTEXT, new, old)) == 1


def test_exceptions_lie_within_the_cidr() -> None:
    outside = created(NETWORKPOLICIES, policy({"cidr": "10.0.0.0/8", "except": ["11.0.0.0/16", "10.0.0.0/8"]}))

    assert errors(outside) == [f"spec.egress[0].to[0].ipBlock.except[{index}]" for index in range(2)]
