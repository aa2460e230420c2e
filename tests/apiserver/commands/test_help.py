"""The list of commands, their help, and the completion for shells."""

import os
import shlex
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from aio_apiserver.apiserver import command
from aio_apiserver.apiserver.commands import man_page, reference
from aio_apiserver.apiserver.config import command_line, manuals
from aio_apiserver.apiserver.subcommands import SUBCOMMANDS
from tests.paths import ROOT


def test_help_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.run(["help"]) == 0
    listed = capsys.readouterr().out
    assert all(f"  {name} " in listed for name in SUBCOMMANDS)


@pytest.mark.parametrize("name", sorted(SUBCOMMANDS))
def test_every_command_explains_itself(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.run(["help", name]) == 0
    text = capsys.readouterr().out
    assert command.run([name, "--help"]) == 0
    assert capsys.readouterr().out == text

    manual = SUBCOMMANDS[name].manual
    assert all(f"  apiserver {line}" in text for line in manual.usage)
    assert all(f"--{flag.name} " in text for flag in manual.flags)


@pytest.mark.parametrize("name", sorted(SUBCOMMANDS))
def test_every_command_has_examples_with_flags_that_exist(name: str) -> None:
    manual = SUBCOMMANDS[name].manual
    flags = {flag.name: flag for flag in (*command_line.flags(), *manual.flags)}
    shorthands = {flag.shorthand for flag in flags.values()}

    assert manual.examples
    for example in manual.examples:
        words = shlex.split(example.line)
        assert words[0] == name
        for word in words[1:]:
            if word.startswith("--"):
                assert word[2:].partition("=")[0] in flags, example.line
            elif word.startswith("-"):
                assert word[1] in shorthands, example.line


def test_the_exit_codes_are_one_table(capsys: pytest.CaptureFixture[str]) -> None:
    command.run(["help"])
    listed = capsys.readouterr().out.partition("Exit codes:\n")[2]

    assert [int(line.split()[0]) for line in listed.splitlines()] == list(manuals.EXIT_CODES)
    assert command.run(["help", "none"]) == manuals.WRONG_USAGE
    assert command.run(["backup", "/nowhere/file", "--data-dir=/nowhere"]) == manuals.FAILURE
    assert all(f"\n.B {code}\n" in man_page.text() for code in manuals.EXIT_CODES)
    assert all(f"| {code} | {meaning} |" in reference.markdown() for code, meaning in manuals.EXIT_CODES.items())


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_command_as_the_table_says(number: signal.Signals, tmp_path: Path) -> None:
    """The command waits for the writer of a pipe, when it is ended."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    process = subprocess.Popen(
        [sys.executable, "-m", "aio_apiserver", "restore", str(pipe), f"--data-dir={tmp_path}"],
        preexec_fn=partial(signal.signal, number, signal.SIG_DFL),  # a shell's background jobs ignore SIGINT
    )
    with pipe.open("wb"):  # opens when the command reads
        process.send_signal(number)
        code = process.wait()

    assert 128 - code in manuals.EXIT_CODES


def test_the_page_of_commands_is_what_the_tables_say() -> None:
    written = (ROOT / "docs" / "reference" / "commands.md").read_text()

    assert written == reference.markdown(), "python -m aio_apiserver.apiserver.commands.reference > <the page>"


def test_the_man_page_is_what_the_tables_say(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.run(["help", "--man"]) == 0
    page = capsys.readouterr().out

    assert (ROOT / "docs" / "apiserver.1").read_text() == page, "apiserver help --man > docs/apiserver.1"
    assert all(f"\n.SS {name}\n" in page.replace("\\-", "-") for name in SUBCOMMANDS)
    assert all(f"--{flag.name}" in page.replace("\\-", "-") for flag in command_line.flags())
    requests = {line.split()[0] for line in page.splitlines() if line.startswith((".", "'"))}
    assert requests == {".TH", ".SH", ".SS", ".B", ".BR", ".TP", ".PP", ".ad", ".br", ".nf", ".fi"}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_completion_has_every_command_and_flag(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.run(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert all(name in script for name in SUBCOMMANDS)
    assert all(flag.name in script for flag in command_line.flags())
    assert all(flag.name in script for one in SUBCOMMANDS.values() for flag in one.manual.flags)


def test_bash_completes_commands_and_flags(capsys: pytest.CaptureFixture[str]) -> None:
    command.run(["completion", "bash"])
    script = capsys.readouterr().out
    asked = "COMP_WORDS=(apiserver $1); COMP_CWORD=$(($# ? ${#COMP_WORDS[@]} - 1 : 0)); _apiserver"
    asked += '; echo "${COMPREPLY[@]}"'

    for words, expected in (
        ("back", "backup"),
        ("--etcd-pre", "--etcd-prefix"),
        ("backup --sin", "--since"),
        ("backup f --data-d", "--data-dir"),
    ):
        found = subprocess.run(
            ["bash", "-c", f"{script}\n{asked}", "bash", words], capture_output=True, text=True, check=True
        )
        assert found.stdout.strip() == expected
