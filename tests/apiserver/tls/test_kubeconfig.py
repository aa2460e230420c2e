import base64
import ssl
from pathlib import Path
from typing import Any

import yaml

from tests.apiserver.serving import ask, running


def loaded(path: Path) -> dict[str, Any]:
    config: dict[str, Any] = yaml.safe_load(path.read_text())
    return config


async def test_the_file_lets_its_owner_in_as_administrator(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        config = loaded(tmp_path / "admin.kubeconfig")
        user, cluster = config["users"][0]["user"], config["clusters"][0]["cluster"]
        credentials = tmp_path / "credentials.pem"
        pems = (user["client-certificate-data"], user["client-key-data"])
        credentials.write_bytes(b"".join(map(base64.b64decode, pems)))
        tls = ssl.create_default_context(cadata=base64.b64decode(cluster["certificate-authority-data"]).decode())
        tls.load_cert_chain(credentials)

        answer = await ask(server.secure.port, "/readyz/ping", tls=tls)

        assert cluster["server"] == server.url
        assert answer.text == "ok"


async def test_the_file_is_its_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "elsewhere" / "config"

    async with running(tmp_path, write_kubeconfig=path):
        assert path.stat().st_mode & 0o777 == 0o600
        assert not (tmp_path / "admin.kubeconfig").exists()
