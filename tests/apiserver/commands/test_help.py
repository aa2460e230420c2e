"""The list of commands, their help, and the completion for shells."""

import subprocess

import pytest

from aio_apiserver.apiserver import command
from aio_apiserver.apiserver.config import command_line
from aio_apiserver.apiserver.subcommands import SUBCOMMANDS


def test_help_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.run(["help"]) == 0
    listed = capsys.readouterr().out
    assert all(f"  {name} " in listed for name in SUBCOMMANDS)


@pytest.mark.parametrize("name", sorted(SUBCOMMANDS.keys() - {"help"}))
def test_every_command_explains_itself(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.run(["help", name]) == 0
    assert f"apiserver {name}" in capsys.readouterr().out


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_completion_has_every_command_and_flag(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.run(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert all(name in script for name in SUBCOMMANDS)
    assert all(flag.name in script for flag in command_line.flags())


def test_bash_completes_commands_and_flags(capsys: pytest.CaptureFixture[str]) -> None:
    command.run(["completion", "bash"])
    script = capsys.readouterr().out
    asked = 'COMP_WORDS=(apiserver $1); COMP_CWORD=1; _apiserver; echo "${COMPREPLY[@]}"'

    for word, expected in (("back", "backup"), ("--etcd-pre", "--etcd-prefix")):
        found = subprocess.run(
            ["bash", "-c", f"{script}\n{asked}", "bash", word], capture_output=True, text=True, check=True
        )
        assert found.stdout.strip() == expected
