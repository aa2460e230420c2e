"""Tests the default pull policy of images."""

import pytest

from aio_apiserver.registry.groups.core.pods import image_pull_policy as images

DIGEST = "sha256:" + "0" * 64


@pytest.mark.parametrize(
    "image",
    [
        "nginx",
        "nginx:latest",
        "library/nginx",
        "host:5000/nginx",
        "Host/nginx",
        f"nginx:latest@{DIGEST}",
        "[::1]:5000/a",
        "x" * 247,
        "host:5000/" + "x" * 255,
    ],
)
def test_the_tag_latest_is_always_pulled(image: str) -> None:
    assert images.pull_policy(image) == "Always"


@pytest.mark.parametrize(
    "image",
    [
        "nginx:1.27",
        "host:5000/nginx:v1",
        f"nginx@{DIGEST}",
        "nginx:Latest",
        "",
        "Nginx",
        "a b",
        "0" * 64,
        "x" * 248,
        "team/" + "x" * 251,
    ],
)
def test_tagged_and_invalid_images_are_pulled_if_not_present(image: str) -> None:
    assert images.pull_policy(image) == "IfNotPresent"
