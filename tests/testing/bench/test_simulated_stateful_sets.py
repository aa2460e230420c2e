"""The claims of StatefulSets in a simulated cluster, by persistentVolumeClaimRetentionPolicy."""

from typing import Any

import pytest

from aio_apiserver.testing import Server
from aio_apiserver.testing.client import BlockingClient

CLAIMS = "/api/v1/namespaces/default/persistentvolumeclaims"
CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
EVENTS = "/api/v1/namespaces/default/events"
PODS = "/api/v1/namespaces/default/pods"
SETS = "/apis/apps/v1/namespaces/default/statefulsets"
MERGE = "application/merge-patch+json"


def _make(cluster: Server, admin: BlockingClient, replicas: int, **policy: str) -> None:
    labels, resources = {"app": "db"}, {"requests": {"storage": "1Gi"}}
    pod = {"containers": [{"name": "main", "image": "nginx"}], "terminationGracePeriodSeconds": 0}
    claim = {"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"], "resources": resources}}
    spec = {
        "replicas": replicas,
        "serviceName": "db",
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": pod},
        "volumeClaimTemplates": [claim],
        "persistentVolumeClaimRetentionPolicy": policy,
    }
    admin.request("POST", SETS, {"metadata": {"name": "db"}, "spec": spec})
    cluster.clock.advance(30)


def _set(cluster: Server, admin: BlockingClient, **spec: Any) -> None:
    admin.request("PATCH", f"{SETS}/db", {"spec": spec}, content_type=MERGE)
    cluster.clock.advance(30)


def _patch(admin: BlockingClient, path: str, **metadata: Any) -> None:
    admin.request("PATCH", path, {"metadata": metadata}, content_type=MERGE)


def _owners(admin: BlockingClient) -> dict[str, list[tuple[str, str, bool]]]:
    """The owners of the claims, by name."""
    return {
        claim["metadata"]["name"]: [
            (one["kind"], one["name"], one["controller"]) for one in claim["metadata"].get("ownerReferences", ())
        ]
        for claim in admin.request("GET", CLAIMS)["items"]
    }


def _uids(admin: BlockingClient, path: str) -> dict[str, str]:
    return {one["metadata"]["name"]: one["metadata"]["uid"] for one in admin.request("GET", path)["items"]}


def test_claims_are_deleted_with_a_set_that_deletes_them(cluster: Server, admin: BlockingClient) -> None:
    _make(cluster, admin, 2, whenDeleted="Delete")
    set_owns = [("StatefulSet", "db", True)]
    assert _owners(admin) == {"data-db-0": set_owns, "data-db-1": set_owns}

    admin.request("DELETE", f"{SETS}/db")
    cluster.clock.advance(30)

    assert _owners(admin) == {}


@pytest.mark.parametrize("when_deleted", ["Retain", "Delete"])
def test_claims_of_pods_that_are_scaled_away_are_deleted(
    cluster: Server, admin: BlockingClient, when_deleted: str
) -> None:
    _make(cluster, admin, 3, whenScaled="Delete", whenDeleted=when_deleted)
    _patch(admin, f"{PODS}/db-2", ownerReferences=None)

    _set(cluster, admin, replicas=1)

    assert _owners(admin) == {"data-db-0": [("StatefulSet", "db", True)] if when_deleted == "Delete" else []}


def test_a_pod_waits_for_the_end_of_a_claim_that_was_scaled_away(cluster: Server, admin: BlockingClient) -> None:
    _make(cluster, admin, 2, whenScaled="Delete")
    before = _uids(admin, CLAIMS)
    _patch(admin, f"{CLAIMS}/data-db-1", finalizers=["example.com/hold"])
    _set(cluster, admin, replicas=1)

    _set(cluster, admin, replicas=2)
    waiting = _uids(admin, PODS)
    _patch(admin, f"{CLAIMS}/data-db-1", finalizers=None)
    cluster.clock.advance(30)

    after = _uids(admin, CLAIMS)
    assert (list(waiting), list(_uids(admin, PODS))) == (["db-0"], ["db-0", "db-1"])
    assert after["data-db-0"] == before["data-db-0"]
    assert after["data-db-1"] != before["data-db-1"]


def test_a_set_of_the_same_name_does_not_use_claims_that_are_being_deleted(
    cluster: Server, admin: BlockingClient
) -> None:
    _make(cluster, admin, 1, whenDeleted="Delete")
    before = _uids(admin, CLAIMS)
    _patch(admin, f"{CLAIMS}/data-db-0", finalizers=["example.com/hold"])
    admin.request("DELETE", f"{SETS}/db")
    cluster.clock.advance(30)

    _make(cluster, admin, 1)
    waiting = _uids(admin, PODS)
    _patch(admin, f"{CLAIMS}/data-db-0", finalizers=None)
    cluster.clock.advance(30)

    assert (list(waiting), list(_uids(admin, PODS))) == ([], ["db-0"])
    assert _uids(admin, CLAIMS)["data-db-0"] != before["data-db-0"]


def test_a_pending_pod_gets_a_missing_claim_again(cluster: Server, admin: BlockingClient) -> None:
    _make(cluster, admin, 0, whenDeleted="Delete")
    _set(cluster, admin, replicas=1, template={"spec": {"nodeSelector": {"disk": "none"}}})
    before, pods = _uids(admin, CLAIMS), _uids(admin, PODS)

    admin.request("DELETE", f"{CLAIMS}/data-db-0")
    cluster.clock.advance(30)

    assert _uids(admin, PODS) == pods
    assert _uids(admin, CLAIMS)["data-db-0"] != before["data-db-0"]
    assert _owners(admin) == {"data-db-0": [("StatefulSet", "db", True)]}


def test_a_changed_policy_changes_the_owners_of_claims(cluster: Server, admin: BlockingClient) -> None:
    _make(cluster, admin, 1)
    assert _owners(admin) == {"data-db-0": []}

    _set(cluster, admin, persistentVolumeClaimRetentionPolicy={"whenDeleted": "Delete"})
    assert _owners(admin) == {"data-db-0": [("StatefulSet", "db", True)]}

    _set(cluster, admin, persistentVolumeClaimRetentionPolicy=None)
    assert _owners(admin) == {"data-db-0": []}


def test_a_claim_of_another_controller_is_kept(cluster: Server, admin: BlockingClient) -> None:
    _make(cluster, admin, 2)
    owner = admin.request("POST", CONFIG_MAPS, {"metadata": {"name": "other"}})["metadata"]
    other = {"apiVersion": "v1", "kind": "ConfigMap", "name": "other", "uid": owner["uid"], "controller": True}
    _patch(admin, f"{CLAIMS}/data-db-1", ownerReferences=[other])

    _set(cluster, admin, replicas=0, persistentVolumeClaimRetentionPolicy={"whenScaled": "Delete"})

    assert _owners(admin) == {"data-db-1": [("ConfigMap", "other", True)]}


def test_a_set_tells_of_a_conflicting_controller(cluster: Server, admin: BlockingClient) -> None:
    _make(cluster, admin, 1)
    owner = admin.request("POST", CONFIG_MAPS, {"metadata": {"name": "other"}})["metadata"]
    other = {"apiVersion": "v1", "kind": "ConfigMap", "name": "other", "uid": owner["uid"], "controller": True}
    _patch(admin, f"{CLAIMS}/data-db-0", ownerReferences=[other])
    _set(cluster, admin, replicas=0, persistentVolumeClaimRetentionPolicy={"whenDeleted": "Delete"})

    _set(cluster, admin, replicas=1)

    (event, *_) = admin.request("GET", f"{EVENTS}?fieldSelector=reason=ConflictingController")["items"]
    assert (event["type"], event["involvedObject"]["name"]) == ("Warning", "db")
    assert event["message"].startswith("PersistentVolumeClaim data-db-0 has a conflicting OwnerReference")
