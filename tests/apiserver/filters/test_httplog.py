import re
from pathlib import Path

import pytest

from aio_apiserver.apiserver.config import logs
from tests.apiserver.serving import as_admin, ask, bearer, running, trusting


async def test_requests_are_logged_without_secrets_from_v_3_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")

    async with running(tmp_path, v=3) as server:
        token = server.pki.admin_token
        await ask(server.secure.port, "/livez?verbose", tls=trusting(server), headers=bearer(token))
        await ask(server.secure.port, "/nope", tls=trusting(server), headers=bearer("unknown-token"))

    lines = shown(caplog)
    pattern = (
        r'"HTTP" verb="GET" URI="/livez\?verbose" latency="[\d.]+(µs|ms|s)" userAgent="" audit-ID="[-\w]+" '
        r'srcIP="127\.0\.0\.1:\d+" apf_pl="exempt" apf_fs="\w+" apf_iseats=1 apf_fseats=0 '
        r'apf_additionalLatency="0s" apf_execution_time="[\d.]+(µs|ms|s)" resp=200'
    )
    assert re.fullmatch(pattern, lines[0])
    assert lines[1].endswith(" resp=401")
    assert token not in caplog.text
    assert "unknown-token" not in caplog.text


async def test_below_that_they_are_not(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")

    async with running(tmp_path, v=2) as server:
        await ask(server.secure.port, "/livez", tls=trusting(server))

    assert shown(caplog) == []


async def test_the_verb_is_that_of_the_resource(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    pods = "/api/v1/namespaces/default/pods"

    async with running(tmp_path, vmodule=("httplog=3",)) as server:
        tls = as_admin(server)
        for path in (pods, f"{pods}?watch=1&timeoutSeconds=1", f"{pods}/none/log"):
            await ask(server.secure.port, path, tls=tls)

    listed, watched, connected = shown(caplog)
    assert [line.split()[1] for line in (listed, watched, connected)] == [
        'verb="LIST"',
        'verb="WATCH"',
        'verb="CONNECT"',
    ]
    assert 'apf_init_latency="' in watched
    assert "apf_" not in connected


async def test_an_impersonated_user_is_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")

    async with running(tmp_path, vmodule=("httplog=3",)) as server:
        await ask(server.secure.port, "/version", tls=as_admin(server), headers={"Impersonate-User": "jane"})

    (line,) = shown(caplog)
    assert line.endswith('is impersonating jane[system:authenticated]"')


def shown(caplog: pytest.LogCaptureFixture) -> list[str]:
    """The lines of requests without their time and place."""
    formatter = logs.KlogFormatter()
    records = [record for record in caplog.records if record.module == "httplog"]
    return [formatter.format(record).partition("] ")[2] for record in records]
