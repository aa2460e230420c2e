import re
from pathlib import Path

import pytest

from tests.apiserver.serving import ask, bearer, running, trusting


async def test_requests_are_logged_without_secrets_from_v_3_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")

    async with running(tmp_path, v=3) as server:
        token = server.pki.admin_token
        await ask(server.secure.port, "/livez?verbose", tls=trusting(server), headers=bearer(token))
        await ask(server.secure.port, "/nope", tls=trusting(server), headers=bearer("unknown-token"))

    lines = [record.getMessage() for record in caplog.records if '"HTTP"' in record.getMessage()]
    pattern = r'"HTTP" verb="GET" URI="/livez\?verbose" latency="[\d.]+ms" userAgent="" audit-ID="[-\w]+" .* resp=200'
    assert re.fullmatch(pattern, lines[0])
    assert lines[1].endswith("resp=401")
    assert token not in caplog.text
    assert "unknown-token" not in caplog.text


async def test_below_that_they_are_not(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")

    async with running(tmp_path, v=2) as server:
        await ask(server.secure.port, "/livez", tls=trusting(server))

    assert '"HTTP"' not in caplog.text
