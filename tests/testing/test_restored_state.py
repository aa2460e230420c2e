"""After a restore, everything that follows the stored state decides by the restored state."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from aio_apiserver.storage.snapshot import Snapshot
from aio_apiserver.testing import Server
from aio_apiserver.testing.client import BlockingClient, Refused
from tests.testing.objects import CONFIG_MAPS, make, names

MANY = 1_100
"""More objects than a restore sends to watches as events."""
WIDGETS = "/apis/example.com/v1/namespaces/default/widgets"
RBAC = "/apis/rbac.authorization.k8s.io/v1/namespaces/default"
DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "widgets.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"plural": "widgets", "singular": "widget", "kind": "Widget"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
            }
        ],
    },
}
READERS = {
    "roles": {"metadata": {"name": "reader"}, "rules": [{"apiGroups": [""], "resources": ["*"], "verbs": ["list"]}]},
    "rolebindings": {
        "metadata": {"name": "reader"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "reader"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "alice"}],
    },
}

Back = Callable[[Snapshot], None]


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    tokens = tmp_path_factory.mktemp("tokens") / "tokens.csv"
    tokens.write_text("secret-of-alice,alice,1\n")
    with Server(authorization_mode=("RBAC",), token_auth_file=Path(tokens)) as server:
        yield server


@pytest.fixture(scope="module")
def crowd(shared: Server) -> Snapshot:
    """Many objects that the test does not look at."""
    shared.apply(*({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"{n}"}} for n in range(MANY)))
    return shared.snapshot()


@pytest.fixture(params=["few", "many"])
def back(request: pytest.FixtureRequest, server: Server, crowd: Snapshot) -> Back:
    """Restores a state, from one that differs in few objects or in many."""

    def restore(snapshot: Snapshot) -> None:
        if request.param == "many":
            added = {key: record for key, record in crowd.records.items() if b"/configmaps/" in key}
            server.restore(Snapshot({**server.snapshot().records, **added}, crowd.revision))
        server.restore(snapshot)

    return restore


@pytest.fixture
def alice(server: Server) -> Iterator[BlockingClient]:
    with server.client() as client:
        client.token = "secret-of-alice"
        yield client


@contextmanager
def refused(status: int) -> Iterator[None]:
    with pytest.raises(Refused) as refusal:
        yield
    assert refusal.value.status == status


def test_rights_are_those_of_the_state(
    server: Server, client: BlockingClient, alice: BlockingClient, back: Back
) -> None:
    without = server.snapshot()
    for plural, body in READERS.items():
        client.request("POST", f"{RBAC}/{plural}", body)
    allowed = server.snapshot()

    back(without)
    with refused(403):
        names(alice)
    back(allowed)

    assert names(alice) == []


def test_definitions_are_those_of_the_state(server: Server, client: BlockingClient, back: Back) -> None:
    without = server.snapshot()
    server.apply(DEFINITION)
    defined = server.snapshot()

    back(without)
    with refused(404):
        names(client, WIDGETS)
    back(defined)
    widget = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "one"}}

    assert client.request("POST", WIDGETS, widget)["metadata"]["name"] == "one"


def test_webhooks_are_those_of_the_state(server: Server, client: BlockingClient, back: Back) -> None:
    without = server.snapshot()
    webhook = {
        "name": "nobody.example.com",
        "clientConfig": {"url": "https://127.0.0.1:1/"},
        "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}],
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "timeoutSeconds": 1,
    }
    configurations = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
    client.request("POST", configurations, {"metadata": {"name": "nobody"}, "webhooks": [webhook]})
    refusing = server.snapshot()

    back(without)
    make(client, "now")
    back(refusing)

    with refused(500):
        make(client, "then")


def test_quotas_count_what_the_state_has(server: Server, client: BlockingClient, back: Back) -> None:
    quota = {"metadata": {"name": "two"}, "spec": {"hard": {"count/secrets": "2"}}}
    quotas = "/api/v1/namespaces/default/resourcequotas"
    client.request("POST", quotas, quota)
    counted = {"status": {"hard": {"count/secrets": "2"}, "used": {"count/secrets": "0"}}}
    client.request("PATCH", f"{quotas}/two/status", counted, content_type="application/merge-patch+json")
    unused = server.snapshot()
    secrets = "/api/v1/namespaces/default/secrets"

    for _ in range(2):
        for name in ("a", "b"):
            client.request("POST", secrets, {"metadata": {"name": name}})
        with refused(403):
            client.request("POST", secrets, {"metadata": {"name": "c"}})
        back(unused)


def test_addresses_and_ports_are_taken_as_the_state_says(server: Server, client: BlockingClient, back: Back) -> None:
    services = "/api/v1/namespaces/default/services"
    ports: list[dict[str, Any]] = [{"port": 80, "nodePort": 30123}]
    service = {"metadata": {"name": "web"}, "spec": {"type": "NodePort", "clusterIP": "10.0.0.77", "ports": ports}}
    free = server.snapshot()
    client.request("POST", services, service)
    taken = server.snapshot()

    back(free)
    client.request("POST", services, service)
    back(taken)

    with refused(422):
        client.request("POST", services, json.loads(json.dumps(service).replace("web", "other")))


def test_what_caches_show_is_the_state(server: Server, client: BlockingClient, back: Back) -> None:
    make(client, "kept", text="before")
    before = server.snapshot()
    client.request("DELETE", f"{CONFIG_MAPS}/kept")
    make(client, "kept", text="after")

    back(before)

    for query in ("", "?resourceVersion=0"):
        assert client.request("GET", f"{CONFIG_MAPS}/kept{query}")["data"] == {"text": "before"}
        assert names(client, f"{CONFIG_MAPS}{query}") == ["kept"]
