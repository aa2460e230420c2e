"""Cardinality: clients cannot make new series, whatever texts their requests have."""

import http.client
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import pytest
from msgspec import Struct

from aio_apiserver.registry.plugins.admission.webhook_metrics import code_label
from aio_apiserver.testing import Server

DEFAULT = "/api/v1/namespaces/default"
NO_FIELDS: Mapping[str, str] = {}


class Sent(Struct, frozen=True):
    """One request with texts of the client's choice."""

    method: str
    path: str
    body: Any = None
    fields: Mapping[str, str] = NO_FIELDS


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server(authorization_mode=("RBAC",)) as running:
        yield running


def answered(server: Server, requests: Iterable[Sent]) -> Sequence[str]:
    """The bodies of the responses, all on one connection where the server keeps it."""
    port = int(server.url.rpartition(":")[2])
    connection = http.client.HTTPSConnection("127.0.0.1", port, context=server.tls, timeout=60)
    texts = []
    for one in requests:
        headers = {"Authorization": f"Bearer {server.admin_token}", "Content-Type": "application/json", **one.fields}
        connection.request(one.method, one.path, json.dumps(one.body) if one.body is not None else None, headers)
        texts.append(connection.getresponse().read().decode())
    connection.close()
    return texts


def series(server: Server) -> Collection[str]:
    """All series of the server, without their values."""
    (text,) = answered(server, [Sent("GET", "/metrics")])
    return {line.rpartition(" ")[0] for line in text.splitlines() if line and not line.startswith("#")}


def paths(word: str) -> Iterator[Sent]:
    """Groups, versions, resources, subresources, names and namespaces."""
    yield Sent("GET", f"/{word}")
    yield Sent("GET", f"/healthz/{word}")
    yield Sent("GET", f"/openapi/v3/apis/{word}/v1")
    yield Sent("GET", f"/apis/{word}.example.com/{word}/{word}")
    yield Sent("GET", f"/apis/apps/{word}/deployments")
    for path in (f"/api/v1/{word}", f"{DEFAULT}/{word}", f"/api/v1/namespaces/{word}/pods", f"{DEFAULT}/pods/{word}"):
        yield Sent("GET", path)
        yield Sent("GET", f"{path}?watch=1&timeoutSeconds=1&resourceVersion={word}")
        yield Sent("POST", path, {"metadata": {"name": word}})
        yield Sent("DELETE", path)
        yield Sent(word.upper(), path)
    for subresource in (word, "log", "exec", "proxy", f"proxy/{word}"):
        yield Sent("GET", f"{DEFAULT}/pods/{word}/{subresource}?container={word}")


def fields(word: str) -> Iterator[Sent]:
    """Header fields and parameters."""
    configmap = {"metadata": {"generateName": "c-", "labels": {word: word}}}
    for name in ("dryRun", "fieldManager", "fieldValidation", "timeout", "pretty", word):
        yield Sent("POST", f"{DEFAULT}/configmaps?{name}={word}", configmap)
    yield Sent("GET", f"{DEFAULT}/configmaps?labelSelector={word}&fieldSelector=metadata.name%3D{word}&limit=1")
    yield Sent("PATCH", f"{DEFAULT}/configmaps/{word}", {}, {"Content-Type": f"application/{word}+json"})
    for name in ("User-Agent", "Accept", "Audit-ID", "Authorization", "Impersonate-User", "X-Remote-User", "Host"):
        yield Sent("GET", f"{DEFAULT}/configmaps", None, {name: word})
    yield Sent("GET", f"{DEFAULT}/configmaps", None, {"Authorization": f"Bearer {word}"})
    yield Sent("GET", "/version", None, {"Impersonate-User": f"{word}@example.com", "Impersonate-Extra-Word": word})


def bodies(word: str) -> Iterator[Sent]:
    """Objects and reviews."""
    reviewed = {"verb": word, "group": word, "version": word, "resource": word, "namespace": word, "name": word}
    spec = {"user": word, "groups": [word], "resourceAttributes": reviewed}
    yield Sent("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", {"spec": spec})
    yield Sent("POST", "/apis/authentication.k8s.io/v1/tokenreviews", {"spec": {"token": word, "audiences": [word]}})
    levels = {"enforce": "baseline", "enforce-version": f"v1.{100 + len(word)}{sum(word.encode())}"}
    labels = {f"pod-security.kubernetes.io/{name}": value for name, value in levels.items()}
    yield Sent("POST", "/api/v1/namespaces", {"metadata": {"name": word, "labels": labels}})
    yield Sent("POST", f"/api/v1/namespaces/{word}/serviceaccounts", {"metadata": {"name": "default"}})
    pod = {"containers": [{"name": word, "image": word}], "schedulerName": word, "serviceAccountName": "default"}
    yield Sent("POST", f"/api/v1/namespaces/{word}/pods", {"metadata": {"name": word}, "spec": pod})
    yield Sent("POST", f"{DEFAULT}/services", {"metadata": {"name": word}, "spec": {"ports": [{"port": 80}]}})
    yield Sent("POST", f"{DEFAULT}/secrets", {"metadata": {"name": word}, "type": f"example.com/{word}"})
    owner = {"apiVersion": f"{word}.example.com/v1", "kind": word, "name": word, "uid": word}
    yield Sent("POST", f"{DEFAULT}/configmaps", {"metadata": {"name": word, "ownerReferences": [owner]}})
    event = {"metadata": {"name": word}, "involvedObject": {"kind": word, "namespace": "default"}, "reason": word}
    yield Sent("POST", f"{DEFAULT}/events", event)


def send(server: Server, word: str) -> None:
    """All requests with one text."""
    answered(server, (*paths(word), *fields(word), *bodies(word)))


def test_a_client_s_texts_make_no_series(server: Server) -> None:
    send(server, "strange")
    before = series(server)

    send(server, "unheard")
    send(server, "another")

    assert set(series(server)) - set(before) == set()
    assert any('resource="configmaps"' in one for one in before)
    assert not [one for one in before if "strange" in one]


def test_a_webhook_s_codes_make_a_bounded_number_of_series() -> None:
    assert [code_label(code) for code in (403, 601, 2**31 - 1, -1, -(2**31))] == ["403", "600", "600", "0", "0"]
