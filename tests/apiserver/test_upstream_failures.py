"""Failures with code 500 that kube-apiserver has too: its code returns a plain error there, and no Status.

A client cannot distinguish them from a fault of the server. They stay, since clients know these messages.
"""

from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.apiserver.serving import as_admin, ask, running

NAMESPACE = "/api/v1/namespaces/default"


def pod_of_class(name: str) -> dict[str, Any]:
    containers = [{"name": "c", "image": "i"}]
    return {"metadata": {"name": "p"}, "spec": {"runtimeClassName": name, "containers": containers}}


@pytest.mark.parametrize(
    ("path", "body", "message"),
    [
        # plugin/pkg/admission/runtimeclass uses client-go, which refuses the name before it sends the request.
        ("pods", pod_of_class("a/b"), "invalid resource name \"a/b\": [may not contain '/']"),
        ("pods", pod_of_class(""), "resource name may not be empty"),
        # pkg/registry/core/pod/storage returns the aggregate of validation.ValidatePodBinding unchanged.
        ("bindings", {"metadata": {"name": "p"}, "target": {}}, "target.name: Required value"),
        ("pods/p/binding", {"metadata": {"name": "p"}, "target": {}}, "target.name: Required value"),
    ],
)
async def test_a_plain_error_of_kube_apiserver_has_its_words(
    tmp_path: Path, path: str, body: dict[str, Any], message: str
) -> None:
    async with running(tmp_path, disable_admission_plugins=("ServiceAccount",)) as server:
        answer = await ask(
            server.secure.port,
            f"{NAMESPACE}/{path}",
            method="POST",
            headers={"Content-Type": "application/json"},
            body=orjson.dumps(body),
            tls=as_admin(server),
        )

    assert (answer.status, answer.json["message"], "reason" in answer.json) == (500, message, False)
