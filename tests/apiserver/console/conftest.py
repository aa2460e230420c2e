"""A server with the console, and a real Chromium that is signed in to it."""

import shutil
from collections.abc import Iterator, Sequence
from os import environ
from pathlib import Path
from typing import Any

import pytest

from aio_apiserver.testing import Server
from tests.registry.groups.apiextensions.example_definitions import definition, version

CHROMIUM = environ.get("CHROMIUM") or next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), "")
IMAGES = Path(environ["CONSOLE_IMAGES"]).absolute() if environ.get("CONSOLE_IMAGES") else None
"""The folder for the images of the documentation: CONSOLE_IMAGES=docs/images. Without it none are made."""
DESKTOP = {"width": 1280, "height": 800}
_GARDEN = {
    "type": "object",
    "properties": {"spec": {"type": "object", "properties": {"size": {"type": "integer", "maximum": 100}}}},
}
_MANIFESTS: Sequence[dict[str, Any]] = (
    {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "default", "labels": {"app": "web"}},
        "spec": {
            "replicas": 3,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "web", "image": "nginx:1.27", "ports": [{"containerPort": 80}]}]},
            },
        },
    },
    {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "settings", "namespace": "default"},
        "data": {"colour": "blue", "markup": "<img src=x onerror=alert(1)><b>bold</b>"},
    },
    {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        **definition("gardens", version("v1", storage=True, schema=_GARDEN), kind="Garden", group="example.org"),
        "metadata": {"name": "gardens.example.org"},
    },
)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Server]:
    """A simulated cluster with a deployment, a config map and a custom resource."""
    with Server(ui=True, simulate=True, controllers=("*",), authorization_mode=("RBAC",)) as server:
        server.apply(*_MANIFESTS)
        server.wait_for("deployments.apps", "web", lambda web: web["status"]["readyReplicas"] == 3)
        yield server


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Debian's Chromium. The tests that use it are skipped without one."""
    if not CHROMIUM:
        pytest.skip("there is no chromium: install Debian's package, or name one by CHROMIUM")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield running
        running.close()


@pytest.fixture(scope="module")
def window(browser: Any, cluster: Server) -> Iterator[Any]:
    """A page that has signed in by a one-time link. `window.problems` has what went wrong in it."""
    context = browser.new_context(viewport=DESKTOP, ignore_https_errors=True, reduced_motion="reduce")
    page = context.new_page()
    page.problems = []
    page.set_default_timeout(20_000)
    page.on("pageerror", lambda error: page.problems.append(str(error)))
    page.on("console", lambda message: page.problems.append(message.text) if message.type == "error" else None)
    page.goto(cluster.ui)
    page.wait_for_selector(".shell")
    yield page
    context.close()
