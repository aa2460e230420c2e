"""Credentials of clients do not appear in logs and metrics when requests go on to kubelets and aggregated servers."""

import base64
import ssl
from pathlib import Path

import pytest

from tests.apiserver.canaries import Canaries
from tests.apiserver.handlers.test_connect import POD, put_on_node
from tests.apiserver.serving import as_admin, ask, bearer, trusting
from tests.apiserver.test_aggregation import GREETINGS, registered
from tests.apiserver.test_forwarding import BEARER, UPGRADE, Listening
from tests.storage.kv.certificates import Authority
from tests.stream_servers import talking


async def test_credentials_show_nowhere_when_requests_are_relayed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    canaries, authority, kubelet = Canaries(), Authority(tmp_path), Listening()
    token = canaries.text("token")
    protocol = base64.urlsafe_b64encode(token.encode()).decode().rstrip("=")
    canaries.planted["token in a protocol"] = protocol
    (tmp_path / "tokens.csv").write_text(f"{token},jane,7,system:masters\n")
    stream = {**UPGRADE, "Sec-WebSocket-Protocol": f"v5.channel.k8s.io, {BEARER}{protocol}"}
    caplog.set_level(0)

    async with registered(tmp_path, authority, token_auth_file=tmp_path / "tokens.csv") as (server, served):
        port, tls = server.secure.port, trusting(server)
        of_kubelet = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        of_kubelet.load_cert_chain(server.pki.server.certificate, server.pki.server.key)
        async with talking(kubelet.talk, of_kubelet) as place:
            await put_on_node(server, place)
            relayed = [
                await ask(port, f"{POD}/log", headers=bearer(token), tls=tls),
                await ask(port, f"{POD}/exec?command=a", headers=stream, tls=tls),
                await ask(port, GREETINGS, headers=bearer(token), tls=tls),
                await ask(port, f"{GREETINGS}/none", headers=bearer(token), tls=tls),
            ]
        broken = await ask(port, f"{POD}/log", headers=bearer(token), tls=tls)
        metrics = await ask(port, "/metrics", tls=as_admin(server))

    assert len(kubelet.heads) == 2
    assert relayed[2].status == 200
    assert broken.status >= 500
    told = (caplog.text, metrics.text, str(served.asked), *kubelet.heads, *(one.text for one in (*relayed, broken)))
    assert [canaries.seen_in(one) for one in told] == [[]] * len(told)
