"""A conversion webhook that does not answer: the log names the definition, the webhook, the reason, and what to do."""

from typing import Any

import pytest

from aio_apiserver.testing import Server
from tests.registry.groups.apiextensions.example_definitions import definition, version

DEFINITION = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com"
WIDGETS = "/apis/example.com/{}/namespaces/default/widgets"
WEBHOOK = "https://127.0.0.1:1/convert"  # nothing listens on this port
KIND = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}
REASON = (
    "conversion webhook for example.com/v1, Kind=Widget failed: "
    f'Post "{WEBHOOK}?timeout=30s": dial tcp 127.0.0.1:1: connect: connection refused'
)
EXPECTED = (
    f"cache: widgets.example.com cannot be converted to v2, trying again: {REASON}; "
    f"repair its webhook ({WEBHOOK}), or spec.conversion of the CustomResourceDefinition widgets.example.com"
)


def test_the_log_says_which_webhook_failed_and_what_to_do(caplog: pytest.LogCaptureFixture) -> None:
    manifest = {**KIND, **definition("widgets", version("v1", storage=True), version("v2"))}
    with Server(manifests=[manifest]) as server, server.client() as client:
        widget = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a"}, "spec": {"size": 3}}
        client.request("POST", WIDGETS.format("v1"), widget)

        webhook: dict[str, Any] = {"conversionReviewVersions": ["v1"], "clientConfig": {"url": WEBHOOK}}
        patch = {"spec": {"conversion": {"strategy": "Webhook", "webhook": webhook}}}
        client.request("PATCH", DEFINITION, patch, content_type="application/merge-patch+json")
        while not (warnings := [message for message in caplog.messages if message.startswith("cache: ")]):
            client.exchange("GET", WIDGETS.format("v2"))

    assert set(warnings) == {EXPECTED}
