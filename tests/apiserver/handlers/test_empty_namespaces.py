"""Paths that leave the namespace empty, as `namespaces//pods`: clients make them of an empty name.

They list the objects of all namespaces, and make, change and delete none.
"""

from pathlib import Path
from typing import Any, NamedTuple

import orjson

from tests.apiserver.serving import as_admin, ask, running

CORE, APPS, ACCESS = "/api/v1/namespaces/", "/apis/apps/v1/namespaces/", "/apis/authorization.k8s.io/v1/namespaces/"
ALL = ("/api/v1/configmaps", "/api/v1/services", "/api/v1/nodes", "/apis/networking.k8s.io/v1/ipaddresses")
NEEDED = '"message":"Namespace parameter required."'
REQUIRED = "metadata.namespace: Required value"
QUESTION = {"user": "a", "resourceAttributes": {"verb": "get", "resource": "pods"}}
MAP = {"metadata": {"name": "a"}}


class Case(NamedTuple):
    """A request, and the status and a part of its response."""

    method: str
    path: str
    status: int
    says: str
    body: Any = None


CASES = (
    Case("GET", f"{CORE}/configmaps", 200, '"namespace":"kube-system"'),
    Case("POST", f"{CORE}/configmaps", 422, REQUIRED, MAP),
    Case("POST", f"{CORE}/configmaps", 422, REQUIRED, {"metadata": {"name": "a", "namespace": "default"}}),
    Case("POST", f"{CORE}/services", 422, REQUIRED, {"metadata": {"name": "a"}, "spec": {"ports": [{"port": 1}]}}),
    Case("GET", f"{CORE}/configmaps/a", 400, NEEDED),
    Case("PUT", f"{CORE}/configmaps/a", 400, NEEDED, MAP),
    Case("PATCH", f"{CORE}/configmaps/a", 400, NEEDED, {}),
    Case("DELETE", f"{CORE}/configmaps/a", 400, NEEDED),
    Case("DELETE", f"{CORE}/configmaps", 400, NEEDED),
    Case("DELETE", f"{APPS}/deployments", 200, '"items":[]'),
    Case("PUT", f"{APPS}/deployments", 405, "does not allow this method", MAP),
    Case("GET", f"{APPS}/deployments/a/scale", 400, NEEDED),
    Case("GET", f"{CORE}/pods/a/log", 400, NEEDED),
    Case("GET", f"{CORE}/services/a/proxy/b", 400, NEEDED),
    Case("POST", f"{CORE}/serviceaccounts/default/token", 400, NEEDED, {"spec": {}}),
    Case(
        "POST", f"{ACCESS}/localsubjectaccessreviews", 400, "namespace is required on this type: ", {"spec": QUESTION}
    ),
    Case("POST", f"{ACCESS}/localsubjectaccessreviews", 422, "exactly one of", {"spec": {"user": "a"}}),
    Case("GET", f"{CORE}/nodes", 404, "could not find the requested resource"),
    Case("POST", f"{CORE}/nodes", 404, "could not find the requested resource", MAP),
)


async def test_no_object_is_made_changed_or_deleted(tmp_path: Path) -> None:
    found = []
    async with running(tmp_path) as server:
        tls, port = as_admin(server), server.secure.port
        before = [await ask(port, path, tls=tls) for path in ALL]
        for case in CASES:
            sent = "application/merge-patch+json" if case.method == "PATCH" else "application/json"
            body = orjson.dumps(case.body) if case.body is not None else b""
            answer = await ask(port, case.path, method=case.method, headers={"Content-Type": sent}, body=body, tls=tls)
            found.append(
                case._replace(status=answer.status, says=case.says if case.says in answer.text else answer.text)
            )
        after = [await ask(port, path, tls=tls) for path in ALL]

    assert found == list(CASES)
    assert [one.json["items"] for one in after] == [one.json["items"] for one in before]
