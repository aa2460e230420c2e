"""The credentials of the server for admission webhooks."""

import base64
from pathlib import Path
from typing import Any

import pytest

from aio_apiserver.apiserver.outgoing import webhook_credentials
from aio_apiserver.apiserver.outgoing.webhook_credentials import WebhookCredentials

USERS = """
kind: Config
users:
- name: exact.example.com:8443
  user: {token: exact}
- name: "*.example.com"
  user: {username: u, password: p}
- name: here.svc
  user: {tokenFile: token}
- name: "*"
  user: {token: others}
"""


def configured(directory: Path, text: str = USERS) -> WebhookCredentials:
    path = directory / "kubeconfig"
    path.write_text(text)
    (directory / "token").write_text("from a file\n")
    configuration = {
        "apiVersion": "apiserver.config.k8s.io/v1",
        "kind": "WebhookAdmissionConfiguration",
        "kubeConfigFile": str(path),
    }
    return webhook_credentials.load({"MutatingAdmissionWebhook": configuration})["MutatingAdmissionWebhook"]


@pytest.mark.parametrize(
    ("host", "port", "header"),
    [
        ("exact.example.com", 8443, "Bearer exact"),
        ("other.example.com", 443, f"Basic {base64.b64encode(b'u:p').decode()}"),
        ("other.example.com", 8443, "Bearer others"),
        ("here.svc", 443, "Bearer from a file"),
        ("elsewhere.org", 443, "Bearer others"),
    ],
)
def test_the_closest_name_counts(tmp_path: Path, host: str, port: int, header: str) -> None:
    assert configured(tmp_path).of(host, port).headers() == {"Authorization": header}


def test_the_user_of_the_current_context_is_for_who_is_not_named(tmp_path: Path) -> None:
    context = "contexts:\n- name: c\n  context: {user: me}\ncurrent-context: c\n"
    credentials = configured(tmp_path, f"{context}users:\n- name: me\n  user: {{token: mine}}\n")

    assert credentials.of("elsewhere.org", 443).headers() == {"Authorization": "Bearer mine"}


def test_without_a_file_webhooks_get_no_credentials() -> None:
    assert webhook_credentials.load({}) == {}
    assert WebhookCredentials().of("elsewhere.org", 443).headers() == {}


@pytest.mark.parametrize(
    ("configuration", "why"),
    [
        ([], "must be a map"),
        ({"kind": "Other"}, "must be a WebhookAdmissionConfiguration"),
        (
            {"apiVersion": "apiserver.config.k8s.io/v1", "kind": "WebhookAdmissionConfiguration", "other": 1},
            "unknown field 'other'",
        ),
        (
            {
                "apiVersion": "apiserver.config.k8s.io/v1alpha1",
                "kind": "WebhookAdmission",
                "kubeConfigFile": "relative",
            },
            "must be an absolute file path",
        ),
    ],
)
def test_a_configuration_that_cannot_be_followed_is_refused(configuration: Any, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        webhook_credentials.load({"ValidatingAdmissionWebhook": configuration})
