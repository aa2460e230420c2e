"""The ImagePolicyWebhook plugin on a real server."""

from pathlib import Path
from typing import Any

import orjson
import pytest
from aiohttp import web

from tests.apiserver.serving import LOOPBACK, Answer, as_admin, ask, running
from tests.apiserver.webhook_servers import trusted, webhook
from tests.storage.kv.certificates import Authority

PODS = "/api/v1/namespaces/default/pods"


def pod(image: str) -> bytes:
    return orjson.dumps(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "p", "namespace": "default"},
            "spec": {"containers": [{"name": "c", "image": image}]},
        }
    )


def configured(folder: Path, url: str, authority: Authority) -> Path:
    kubeconfig = {
        "clusters": [{"name": "c", "cluster": {"server": url, "certificate-authority-data": trusted(authority)}}],
        "contexts": [{"name": "x", "context": {"cluster": "c"}}],
        "current-context": "x",
    }
    (folder / "kubeconfig").write_bytes(orjson.dumps(kubeconfig))
    settings = {"imagePolicy": {"kubeConfigFile": str(folder / "kubeconfig")}}
    file = folder / "admission.yaml"
    plugin = {"name": "ImagePolicyWebhook", "configuration": settings}
    config = {"apiVersion": "apiserver.config.k8s.io/v1", "kind": "AdmissionConfiguration", "plugins": [plugin]}
    file.write_bytes(orjson.dumps(config))
    return file


async def test_a_webhook_decides_which_images_there_may_be(tmp_path: Path) -> None:
    authority = Authority(tmp_path)

    async def review(request: web.BaseRequest) -> web.Response:
        asked = await request.json()
        images = [one["image"] for one in asked["spec"]["containers"]]
        status = {"allowed": images == ["good"], "reason": f"{images[0]} is not good"}
        return web.json_response({**asked, "status": status})

    async with webhook(authority, review) as url:
        flags: dict[str, Any] = {
            "enable_admission_plugins": ("ImagePolicyWebhook",),
            "disable_admission_plugins": ("ServiceAccount",),
            "admission_control_config_file": configured(tmp_path, url, authority),
        }
        async with running(tmp_path / "data", **flags) as server:

            async def create(image: str) -> Answer:
                return await ask(server.secure.port, PODS, method="POST", body=pod(image), tls=as_admin(server))

            bad, good = await create("bad"), await create("good")

    assert (bad.status, good.status) == (403, 201)
    assert bad.json["message"] == (
        'pods "p" is forbidden: image policy webhook backend denied one or more images: bad is not good'
    )


async def test_a_webhook_decides_about_ephemeral_containers_as_well(tmp_path: Path) -> None:
    """CVE-2023-2727: kubectl debug could run any image."""
    authority = Authority(tmp_path)

    async def review(request: web.BaseRequest) -> web.Response:
        asked = await request.json()
        return web.json_response({**asked, "status": {"allowed": "bad" not in str(asked["spec"]["containers"])}})

    async with webhook(authority, review) as url:
        flags: dict[str, Any] = {
            "enable_admission_plugins": ("ImagePolicyWebhook",),
            "disable_admission_plugins": ("ServiceAccount",),
            "admission_control_config_file": configured(tmp_path, url, authority),
        }
        async with running(tmp_path / "data", **flags) as server:
            port, tls = server.secure.port, as_admin(server)
            await ask(port, PODS, method="POST", body=pod("good"), tls=tls)

            async def debug(image: str) -> Answer:
                container = {"name": f"debug-{image}", "image": image, "terminationMessagePolicy": "File"}
                patch = orjson.dumps({"spec": {"ephemeralContainers": [container]}})
                headers = {"Content-Type": "application/strategic-merge-patch+json"}
                path = f"{PODS}/p/ephemeralcontainers"
                return await ask(port, path, method="PATCH", headers=headers, body=patch, tls=tls)

            answers = [await debug("good"), await debug("bad")]

    assert [one.status for one in answers] == [200, 403]


async def test_without_a_configuration_there_is_no_server(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match='couldn\'t init admission plugin "ImagePolicyWebhook": no config specified'):
        async with running(tmp_path, enable_admission_plugins=("ImagePolicyWebhook",), bind_address=LOOPBACK):
            pass
