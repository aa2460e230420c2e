"""Tables of commands: columns in line, and colours on a terminal alone."""

import io
import sys

import pytest

from aio_apiserver.apiserver.commands.terminal import output

ROWS = [("ok", "first"), ("problem", "second")]


class Terminal(io.StringIO):
    """A stdout that is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)


def test_columns_are_in_line(capsys: pytest.CaptureFixture[str]) -> None:
    output.table(("SEVERITY", "SUBJECT"), ROWS)

    assert capsys.readouterr().out == "SEVERITY  SUBJECT\nok        first\nproblem   second\n"


def test_colours_are_for_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", Terminal())
    output.table(("SEVERITY", "SUBJECT"), ROWS)
    assert isinstance(sys.stdout, Terminal)
    assert "\x1b[31mproblem" in sys.stdout.getvalue()


def test_no_color_is_respected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr(sys, "stdout", Terminal())
    output.table(("SEVERITY", "SUBJECT"), ROWS)
    assert isinstance(sys.stdout, Terminal)
    assert "\x1b" not in sys.stdout.getvalue()
