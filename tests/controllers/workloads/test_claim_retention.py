from typing import Any

import pytest

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.workloads import claim_retention
from aio_apiserver.controllers.workloads import stateful_set_pods as stateful_sets
from aio_apiserver.controllers.workloads.claim_retention import ClaimRetention
from tests.controllers.making import CLOCK, obj, owned, pod, workload

_SET = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "db"}


def _db(replicas: int = 1, *, deleted: str = "Retain", scaled: str = "Retain", **spec: Any) -> Object:
    policy = {"whenDeleted": deleted, "whenScaled": scaled}
    return workload("db", replicas, persistentVolumeClaimRetentionPolicy=policy, **spec)


def _claim(**references: dict[str, Any]) -> Object:
    """A claim with owners by uid."""
    made = obj("data-db-0")
    for uid, reference in references.items():
        owned(made, uid, **reference)
    return made


def _by(name: str, **more: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Pod", "name": name, **more}


def _uids(claim: Object) -> list[str]:
    return [one["uid"] for one in claim["metadata"].get("ownerReferences", ())]


@pytest.mark.parametrize(
    ("deleted", "scaled", "kept", "condemned"),
    [
        ("Retain", "Retain", [], []),
        ("Delete", "Retain", ["db"], ["db"]),
        ("Retain", "Delete", [], ["db-1"]),
        ("Delete", "Delete", ["db"], ["db-1"]),
    ],
)
def test_the_policy_names_the_owner_of_a_claim(
    deleted: str, scaled: str, kept: list[str], condemned: list[str]
) -> None:
    owner = _db(deleted=deleted, scaled=scaled)

    for name, wanted in (("db-0", kept), ("db-1", condemned)):
        retention, claim = ClaimRetention(owner, pod(name)), _claim(db={**_SET}, other={})
        assert retention.apply(claim)
        assert _uids(claim) == ["other", *wanted]
        assert not retention.apply(claim)


def test_a_conflicting_controller_takes_the_claim() -> None:
    retention, claim = ClaimRetention(_db(deleted="Delete"), pod("db-0")), _claim(db=_SET, other={"controller": True})

    assert retention.is_conflicting(claim)
    assert retention.apply(claim)
    assert _uids(claim) == ["other"]
    assert not retention.apply(claim)
    assert not ClaimRetention(_db(), pod("db-0")).is_conflicting(claim)


def test_a_claim_of_an_earlier_set_or_pod_stays_as_it_is() -> None:
    retention = ClaimRetention(_db(scaled="Delete"), pod("db-0"))

    for references in ({"old": _SET}, {"old": _by("db-0", controller=True)}):
        claim = _claim(**references)
        assert (retention.is_up_to_date(claim), retention.is_conflicting(claim)) == (True, True)


def test_a_claim_is_stale_for_a_pod_of_a_name_that_another_one_had() -> None:
    new = {"metadata": {"name": "db-0"}}
    claim = _claim(old=_by("db-0", controller=True))

    assert ClaimRetention(_db(scaled="Delete"), new).is_stale(claim)
    assert not ClaimRetention(_db(deleted="Delete"), new).is_stale(claim)
    assert not ClaimRetention(_db(scaled="Delete"), new).is_stale(_claim())


def test_the_owner_of_a_claim_names_the_set() -> None:
    found = [claim_retention.set_key_of(_claim(a=one)) for one in (_SET, _by("db-0"), _by("other"), {})]

    assert found == ["default/db", "default/db", "", ""]


def _reached(owner: Object, *pods: Object) -> list[str]:
    situation = stateful_sets.StatefulSetSituation(owner, pods, "now", "now", CLOCK)
    return [one["metadata"]["name"] for one in situation.reached()]


def test_a_pod_that_is_not_available_stops_an_ordered_set() -> None:
    every = pod("db-0"), pod("db-1"), pod("db-2")

    assert _reached(_db(2), *every) == ["db-0", "db-1", "db-2"]
    assert _reached(_db(2), pod("db-0", ready=False), *every[1:]) == []
    assert _reached(_db(2), pod("db-0", ready=False, phase="Pending"), *every[1:]) == ["db-0"]
    assert _reached(_db(2, podManagementPolicy="Parallel"), pod("db-0", ready=False), every[2]) == ["db-0", "db-2"]
