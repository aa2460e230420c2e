"""Completion: `apiserver completion SHELL`, a script for bash, zsh or fish with the commands and flags.

The script asks nothing of the program when a key is pressed. Must hold: it names
every command and every flag, those of the commands included.
"""

import sys
from collections.abc import Callable, Mapping, Sequence

from aio_apiserver.apiserver.commands.terminal import command_lines
from aio_apiserver.apiserver.config import command_line
from aio_apiserver.apiserver.config.flag_grammar import Flag, UsageError
from aio_apiserver.apiserver.config.manuals import CommandExample, CommandManual
from aio_apiserver.apiserver.subcommands import SUBCOMMANDS

MANUAL = CommandManual(
    about="Prints the completion of commands and flags for a shell. The script does not start the program when a "
    "key is pressed.",
    usage=("completion {bash|zsh|fish}",),
    examples=(
        CommandExample("completion bash > ~/.local/share/bash-completion/completions/apiserver", "for bash"),
        CommandExample("completion zsh > ~/.apiserver-completion; source ~/.apiserver-completion", "for zsh"),
        CommandExample("completion fish | source", "for fish"),
    ),
)
_BASH = """\
_apiserver() {{
    local current=${{COMP_WORDS[COMP_CWORD]}}
    local own=
    case ${{COMP_WORDS[1]}} in
{own}
    esac
    case $current in
        -*) COMPREPLY=($(compgen -W "$own {flags}" -- "$current")) ;;
        *)  if [ "$COMP_CWORD" = 1 ]; then COMPREPLY=($(compgen -W "{commands}" -- "$current"))
            else COMPREPLY=($(compgen -f -- "$current")); fi ;;
    esac
}}
complete -F _apiserver apiserver kube-apiserver
"""
_ZSH = """\
autoload -U +X bashcompinit && bashcompinit
"""


def run(arguments: Sequence[str]) -> int:
    """Print the script. Returns the exit code. Raises UsageError."""
    if command_lines.wants_help(arguments, MANUAL):
        return 0
    if len(arguments) != 1 or arguments[0] not in _SCRIPTS:
        raise UsageError(f"completion needs one of {', '.join(_SCRIPTS)}")
    sys.stdout.write(_SCRIPTS[arguments[0]]())
    return 0


def _bash() -> str:
    flags = _names(command_line.flags())
    own = "\n".join(f'        {name}) own="{_names(command.manual.flags)}" ;;' for name, command in SUBCOMMANDS.items())
    return _BASH.format(flags=flags, commands=" ".join(SUBCOMMANDS), own=own)


def _zsh() -> str:
    return _ZSH + _bash()


def _fish() -> str:
    lines = [
        f"complete -c apiserver -n __fish_use_subcommand -f -a {name} -d '{_quoted(command.text)}'"
        for name, command in SUBCOMMANDS.items()
    ]
    for name, command in SUBCOMMANDS.items():
        used = f"complete -c apiserver -n '__fish_seen_subcommand_from {name}'"
        lines += [f"{used} -l {flag.name} -d '{_quoted(flag.help)}'" for flag in command.manual.flags]
    lines += [f"complete -c apiserver -l {flag.name} -d '{_quoted(flag.help)}'" for flag in command_line.flags()]
    return "\n".join(lines) + "\n"


def _names(flags: Sequence[Flag]) -> str:
    return " ".join(f"--{flag.name}" for flag in flags)


def _quoted(text: str) -> str:
    """A text inside of single quotes of fish."""
    return text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", " ")


_SCRIPTS: Mapping[str, Callable[[], str]] = {"bash": _bash, "zsh": _zsh, "fish": _fish}
