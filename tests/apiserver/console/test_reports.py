"""Reports: what a failing test leaves behind, and what it must not."""

import base64
import html
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aio_apiserver.apiserver import command
from aio_apiserver.apiserver.console.reports.findings import findings, withheld
from aio_apiserver.apiserver.console.reports.redaction import WITHHELD, Redaction
from aio_apiserver.apiserver.console.reports.report_summary import report_summary
from aio_apiserver.apiserver.console.reports.secret_texts import SHORTEST, SecretTexts, SecretValues
from aio_apiserver.base.budget import Budget, BudgetLimits
from aio_apiserver.testing import Refused, Server
from tests.apiserver.console.conftest import IMAGES
from tests.docs import pages

MAPS = "/api/v1/namespaces/default/configmaps"
CANARY = "canary-77ab01"
PLENTY = BudgetLimits(steps=100_000_000, bytes_made=100_000_000)

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
    assert [(one["name"], one["state"]) for one in data["objects"]] == [("short", "deleted"), ("one", "created")]
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


def without(values: Iterable[str], value: Any, steps: int = 1_000_000) -> Any:
    """A value without secrets."""
    collected = SecretValues()
    for one in values:
        collected.add(one, Budget(PLENTY))
    return SecretTexts(collected).without(value, Budget(BudgetLimits(steps=steps, bytes_made=0)))


def test_values_of_secrets_are_found_at_any_place_of_a_text() -> None:
    values = ["abcdef", "abcdefgh", "short"]

    assert without(values, "xabcdefxabcdefghabcdex") == "x(hidden)x(hidden)abcdex"
    assert without(values, {"abcdefg": ["short", 1, None, "abcdefgh…"]}) == {
        "(hidden)": ["short", 1, None, "(hidden)…"]
    }
    assert without(["abcdefgh"], "see abcdefg…") == "see (hidden)…"


def occurrences_hidden(values: Sequence[str], text: str) -> str:
    """The same by a search for each value at each place."""
    shown, at = "", 0
    while at < len(text):
        rest = text[at:]
        lengths = [len(value) for value in values if len(value) >= SHORTEST and rest.startswith(value)]
        is_cut = len(rest) >= SHORTEST and any(value.startswith(rest) for value in values)
        length = len(rest) if is_cut else max(lengths, default=0)
        shown += "(hidden)" if length else text[at]
        at += length or 1
    return shown


@given(st.lists(st.text("ab", max_size=12), max_size=12), st.text("ab", max_size=40))
def test_the_longest_value_at_each_place_is_hidden(values: Sequence[str], text: str) -> None:
    assert without(values, text) == occurrences_hidden(values, text)


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ([f"{'a' * length}b" for length in range(6, 1000)], "a" * 100_000),
        (["a" * length for length in range(6, 1000)], f"{'a' * 999}b" * 100),
        ([f"{'abcdef' * 5}{number:015b}" for number in range(20_000)], "abcdef" * 16_000),
        ([f"{'a' * 1500}{number}" for number in range(100)], "a" * 100_000),
    ],
    ids=["almost the text", "nested", "with a common beginning", "long"],
)
def test_the_steps_of_a_search_do_not_grow_with_values_that_share_letters(values: Sequence[str], text: str) -> None:
    assert without(values, text, steps=7 * len(text))


def test_long_values_are_hidden_up_to_their_ends() -> None:
    one, other = (f"{'a' * 1100}{end}" for end in ("b" * 50, "c" * 50))

    assert without([one, other], f"see {other}, {one}!") == "see (hidden), (hidden)!"
    assert without([one, other], f"see {one[:1090]}") == "see (hidden)"
    assert without([one], f"see {one[:1090]}; and more") == "see (hidden)"


async def test_what_could_not_be_searched_is_not_in_a_report() -> None:
    collected = SecretValues()
    collected.add(CANARY, Budget(PLENTY))
    redaction = Redaction(SecretTexts(collected), "jane", BudgetLimits(steps=20_000, bytes_made=0))

    searched = await redaction.each([{"text": f"a {CANARY}"}, {"text": f"{CANARY} {'x' * 200_000}"}, {"text": "short"}])

    assert searched == [{"text": "a (hidden)"}]
    assert await redaction.text("short") == WITHHELD
    assert withheld(redaction.withheld)[0]["text"] == "3 parts are left out of this report"


async def test_a_report_with_too_many_secrets_shows_no_text() -> None:
    redaction = Redaction(None, "jane")

    assert (await redaction.text(CANARY), await redaction.each([CANARY]), redaction.withheld) == (WITHHELD, [], 2)


def test_a_report_with_many_secrets_that_share_letters_holds_up_nobody(tmp_path: Path) -> None:
    data = {
        f"key-{number}": base64.b64encode(f"{'abcdef' * 5}{number:015b}".encode()).decode() for number in range(1500)
    }
    with Server(ui=True) as server, server.client() as client:
        for number in range(4):
            client.request(
                "POST", "/api/v1/namespaces/default/secrets", {"metadata": {"name": f"s-{number}"}, "data": data}
            )
        client.request("POST", MAPS, {"metadata": {"name": "copy"}, "data": {"text": "abcdef" * 40_000}})
        client.request("PUT", f"{MAPS}/copy", {"metadata": {"name": "copy"}, "data": {"text": "bcdefa" * 40_000}})
        server.report(tmp_path / "report.html", texts=[("Log", f"{'abcdef' * 5}{7:015b} is known")])

    data = contents(tmp_path / "report.html")
    assert data["texts"] == [{"title": "Log", "text": "(hidden) is known"}]
    assert data["findings"] == []
    assert "copy" in {one["name"] for one in data["objects"]}


def test_the_objects_that_a_user_has_changed_come_first_and_the_newest_of_them_at_the_top(
    tmp_path: Path,
) -> None:
    file = tmp_path / "report.html"
    with Server(ui=True, data_dir=tmp_path / "data") as server:
        with server.user("jane", "system:masters").client() as jane, server.client() as client:
            for one, name in ((jane, "first"), (client, "of-another"), (jane, "second"), (client, "last")):
                one.request("POST", MAPS, {"metadata": {"name": name}})
            jane.request("DELETE", f"{MAPS}/first")
        server.report(file, user="jane")
        of_jane = contents(file)["objects"]
        command_line = ["report", str(file), f"--data-dir={server._live.settings.data_dir}"]
        assert command.run(command_line) == 0
        of_administrator = contents(file)["objects"]
        assert command.run([*command_line, "--user=jane"]) == 0
        again_of_jane = contents(file)["objects"]

    assert [(one["name"], one["users"]) for one in of_jane] == [
        ("first", ["jane"]),
        ("second", ["jane"]),
        ("last", ["kubernetes-admin"]),
        ("of-another", ["kubernetes-admin"]),
    ]
    assert [one["name"] for one in of_administrator] == ["last", "of-another", "first", "second"]
    assert again_of_jane == of_jane


def test_texts_of_clients_that_are_not_utf_8_are_in_a_report(server: Server, tmp_path: Path) -> None:
    with server.client() as client:
        client._connection.putrequest("GET", "/%ff")
        client._connection.putheader("User-Agent", b"\xfe\xff")
        client._connection.endheaders()
        client._connection.getresponse().read()

    server.report(tmp_path / "report.html")

    *_, last = contents(tmp_path / "report.html")["timeline"]["requests"]
    assert (last["client"], last["path"]) == ("??", "/\N{REPLACEMENT CHARACTER}")


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
