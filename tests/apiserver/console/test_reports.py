"""Reports: what a failing test leaves behind, and what it must not."""

import html
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from aio_apiserver.apiserver import command
from aio_apiserver.apiserver.console.reports.findings import findings
from aio_apiserver.apiserver.console.reports.report_summary import report_summary
from aio_apiserver.apiserver.console.reports.secret_texts import SecretTexts
from aio_apiserver.testing import Refused, Server
from tests.apiserver.console.conftest import IMAGES
from tests.docs import pages

MAPS = "/api/v1/namespaces/default/configmaps"
CANARY = "canary-77ab01"

pytest_plugins = ["pytester"]


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server(ui=True) as running:
        yield running


def contents(path: Path) -> Any:
    [data] = re.findall(r'<script type="application/json" id="data">(.*?)</script>', path.read_text(), re.DOTALL)
    return orjson.loads(data)


def test_a_report_shows_the_requests_and_objects_since_the_reset(server: Server, tmp_path: Path) -> None:
    with server.client() as client:
        client.request("POST", MAPS, {"metadata": {"name": "before"}})
        server.reset()
        client.request("POST", MAPS, {"metadata": {"name": "one"}, "data": {"a": "1"}})
        with pytest.raises(Refused):
            client.request("POST", MAPS, {"metadata": {"name": "one"}})
        client.request("POST", MAPS, {"metadata": {"name": "short"}})
        client.request("DELETE", f"{MAPS}/short")
    server.report(tmp_path / "folder" / "report.html", title="the title", texts=[("Failure", "assert False")])

    data = contents(tmp_path / "folder" / "report.html")
    assert [one["text"] for one in data["findings"]] == ["409 AlreadyExists: create configmaps default/one by a client"]
    assert [(one["name"], one["state"]) for one in data["objects"]] == [("one", "created"), ("short", "deleted")]
    assert data["texts"] == [{"title": "Failure", "text": "assert False"}]
    assert {one["name"] for one in data["timeline"]["requests"]} == {"one", "short"}


def test_a_report_needs_no_other_file_and_values_cannot_end_its_data(server: Server, tmp_path: Path) -> None:
    with server.client() as client:
        client.request("POST", MAPS, {"metadata": {"name": "markup"}, "data": {"a": "</script><script>alert(1)"}})
    server.report(tmp_path / "report.html", title="<b>")

    page = (tmp_path / "report.html").read_text()
    assert not re.search(r"""(src|href)=["']|@import|url\(""", re.sub(r"<script type=.*", "", page, flags=re.DOTALL))
    assert "<script>alert" not in page
    assert f"<title>{html.escape('<b>')}</title>" in page
    assert "default-src 'none'" in page


def test_no_secret_value_is_in_a_report(server: Server, tmp_path: Path) -> None:
    with server.client() as client:
        client.request(
            "POST", "/api/v1/namespaces/default/secrets", {"metadata": {"name": "s"}, "stringData": {"k": CANARY}}
        )
        client.request("POST", MAPS, {"metadata": {"name": "copy"}, "data": {"text": f"x{CANARY}x"}})
        with pytest.raises(Refused):
            client.request("GET", f"{MAPS}/{CANARY}")
    server.report(tmp_path / "report.html", texts=[("Log", f"token {server.admin_token} {CANARY}")])

    page = (tmp_path / "report.html").read_text()
    assert CANARY not in page
    assert "Y2FuYXJ5" not in page
    assert server.admin_token not in page
    assert contents(tmp_path / "report.html")["texts"] == [{"title": "Log", "text": "token (hidden) (hidden)"}]


def test_a_key_of_several_lines_and_the_beginning_of_a_cut_one_are_hidden(server: Server, tmp_path: Path) -> None:
    lines, long = f"-----BEGIN\n{CANARY}\n\t{CANARY}\nEND-----\n", "".join(f"{CANARY}{number}" for number in range(60))
    server.reset()
    with server.client() as client:
        client.request(
            "POST",
            "/api/v1/namespaces/default/secrets",
            {"metadata": {"name": "keys"}, "stringData": {"lines": lines, "long": long}},
        )
        client.request("POST", MAPS, {"metadata": {"name": "copies"}})
        client.request(
            "PUT", f"{MAPS}/copies", {"metadata": {"name": "copies"}, "data": {"a": lines, "b": f"xy{long}"}}
        )
    server.report(tmp_path / "report.html")

    [changed] = [one for one in contents(tmp_path / "report.html")["timeline"]["changes"] if one["type"] == "MODIFIED"]
    assert changed["differences"] == [["data", None, '{"a":"(hidden)","b":"xy(hidden)…']]
    assert CANARY not in (tmp_path / "report.html").read_text()


def test_a_secret_that_the_watch_window_has_lost_is_hidden(tmp_path: Path) -> None:
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "old"}, "stringData": {"key": CANARY}}
    with Server(storage_backend="sqlite", data_dir=tmp_path) as server:
        server.apply(secret)
    with Server(storage_backend="sqlite", data_dir=tmp_path, ui=True) as server:
        server.report(tmp_path / "report.html", texts=[("Log", f"the key is {CANARY}")])

    assert contents(tmp_path / "report.html")["texts"] == [{"title": "Log", "text": "the key is (hidden)"}]


def test_objects_that_cannot_be_read_are_named_and_the_others_reported(tmp_path: Path) -> None:
    secrets = "/api/v1/namespaces/default/secrets"
    with Server(ui=True) as server, server.client() as client:
        [backend] = server._live.parts.console.history._storage._backends.values()  # type: ignore[union-attr]
        client.request("POST", MAPS, {"metadata": {"name": "whole"}, "data": {"a": "1"}})
        client.request("POST", secrets, {"metadata": {"name": "s"}, "stringData": {"key": CANARY}})
        for key in (b"configmaps/default/broken", b"secrets/default/broken"):
            server._call(backend.kv.put(b"/registry/" + key, b"{", expected_mod_revision=0))
        server.report(tmp_path / "report.html", texts=[("Log", f"the key is {CANARY}")])

    data = contents(tmp_path / "report.html")
    assert {
        "tone": "bad",
        "text": "2 times stored data that cannot be read",
        "detail": "configmaps default/broken, secrets default/broken",
    } in data["findings"]
    assert "whole" in {one["name"] for one in data["objects"]}
    assert data["texts"] == [{"title": "Log", "text": "the key is (hidden)"}]


def test_values_of_secrets_are_found_at_any_place_of_a_text() -> None:
    hidden = SecretTexts(["abcdef", "abcdefgh", "short"])

    assert hidden.without("xabcdefxabcdefghabcdex") == "x(hidden)x(hidden)abcdex"
    assert hidden.without({"abcdefg": ["short", 1, None, "abcdefgh…"]}) == {"(hidden)": ["short", 1, None, "(hidden)…"]}
    assert SecretTexts(["abcdefgh"]).without("see abcdefg…") == "see (hidden)…"


def test_a_server_without_the_console_has_no_report(tmp_path: Path) -> None:
    with Server() as server, pytest.raises(RuntimeError, match="ui=True"):
        server.report(tmp_path / "report.html")


def test_the_command_writes_the_report_of_a_running_server(
    server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    flag, file = f"--data-dir={server._live.settings.data_dir}", tmp_path / "report.html"

    assert command.run(["report", str(file), flag]) == 0
    assert contents(file)["title"] == "What happened lately"
    assert command.run(["report", str(tmp_path / "none" / "report.html"), flag]) == 1
    assert "none/report.html: No such file" in capsys.readouterr().err


def test_the_command_says_why_there_is_no_report_and_makes_no_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, empty = tmp_path / "report.html", tmp_path / "empty"
    with Server() as without_console:
        assert command.run(["report", str(file), f"--data-dir={without_console._live.settings.data_dir}"]) == 1
    assert "runs without --ui" in capsys.readouterr().err
    assert command.run(["report", str(file), f"--data-dir={empty}"]) == 1
    assert f"{empty}" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_objects_that_change_again_and_again_stand_out() -> None:
    change = {"type": "MODIFIED", "resource": "demos", "namespace": "a", "name": "b", "manager": "kopf"}
    changes = [{**change, "differences": [["status.count", "1", "2"]]}] * 12

    [found] = findings([], changes, [])

    assert found["text"] == "kopf changed demos a/b 12 times, at status.count"


def test_a_summary_keeps_values_from_becoming_markup(server: Server, tmp_path: Path) -> None:
    with server.client() as client, pytest.raises(Refused):
        client.request("GET", f"{MAPS}/`|x")
    server.report(
        tmp_path / "report.html",
        title="a `title` | here",
        texts=[("Failure", "x\nE  assert 1 == 2\nE  more\n\na.py:3: E")],
    )

    text = report_summary(contents(tmp_path / "report.html"), "report.html")
    assert text.startswith("### `a 'title' ¦ here`\n")
    assert "- `E assert 1 == 2`\n- `a.py:3: E`\n" in text
    assert "'¦x" in text


def test_the_report_of_a_failing_test_is_written_and_summed_up(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    summary = pytester.path / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    pytester.makepyfile(
        """
        def test_fails(apiserver):
            with apiserver.client() as client:
                client.request("GET", "/api/v1/namespaces/default/configmaps/missing")

        def test_passes(apiserver):
            pass
        """
    )

    pytester.runpytest_subprocess("-p", "no:cacheprovider", "--apiserver-report=reports")

    [path] = (pytester.path / "reports").iterdir()
    data = contents(path)
    assert data["title"].endswith("::test_fails: failed")
    assert "404 NotFound" in data["findings"][0]["text"]
    assert data["texts"][0]["title"] == "Failure"
    assert "404 NotFound: get configmaps default/missing" in summary.read_text()


@pytest.fixture
def failed(pytester: pytest.Pytester) -> tuple[Path, str]:
    """The report of the failing test that docs/testing.md shows, and what pytest has printed."""
    for name, content in pages.files(pages.PROJECT / "docs" / "testing.md").items():
        if name.startswith("gardens/"):
            (pytester.path / name.removeprefix("gardens/")).write_text(content)
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", "--apiserver-report=reports")
    [report] = (pytester.path / "reports").iterdir()
    return report, str(result.stdout)


def test_the_report_in_the_documentation_names_the_bug_first(failed: tuple[Path, str], browser: Any) -> None:
    report, printed = failed
    page = browser.new_page(viewport={"width": 1280, "height": 1060})
    page.goto(f"file://{report}")
    page.wait_for_selector(".tl-list li.chosen >> text=create configmaps default/roses-bed")
    if IMAGES:
        page.screenshot(path=IMAGES / "report.png")
    page.close()

    first = contents(report)["findings"][0]
    assert "assert ['north'] == ['north', 'south']" in printed
    assert first["text"] == "409 AlreadyExists: create configmaps default/roses-bed by OpenAPI-Generator"
    assert (first["tone"], first["detail"]) == ("bad", 'configmaps "roses-bed" already exists')


def test_a_report_draws_its_timeline(browser: Any, server: Server, tmp_path: Path) -> None:
    with server.client() as client:
        client.request("POST", MAPS, {"metadata": {"name": "drawn"}})
    server.report(tmp_path / "report.html", texts=[("Failure", "assert False")])
    page = browser.new_page()
    problems: list[str] = []
    page.on("console", lambda message: problems.append(message.text))
    page.on("pageerror", lambda error: problems.append(str(error)))

    page.goto(f"file://{tmp_path / 'report.html'}")
    page.wait_for_selector(".tl-list li >> text=configmaps default/drawn created")
    page.click("summary >> text=default/drawn")
    page.wait_for_selector(".code >> text=drawn")

    page.close()
    assert problems == []
