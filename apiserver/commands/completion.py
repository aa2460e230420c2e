"""Completion: `apiserver completion SHELL`, a script for bash, zsh or fish with the commands and flags.

The script asks nothing of the program when a key is pressed. Must hold: it names every command and every flag.
"""

import sys
from collections.abc import Callable, Mapping, Sequence

from aio_apiserver.apiserver.config import command_line
from aio_apiserver.apiserver.config.flag_grammar import UsageError
from aio_apiserver.apiserver.subcommands import SUBCOMMANDS

_USAGE = """\
Prints the completion of commands and flags.

Usage:
  apiserver completion {bash|zsh|fish}

  bash: source <(apiserver completion bash)
  zsh:  source <(apiserver completion zsh)
  fish: apiserver completion fish | source
"""
_BASH = """\
_apiserver() {{
    local current=${{COMP_WORDS[COMP_CWORD]}}
    case $current in
        -*) COMPREPLY=($(compgen -W "{flags}" -- "$current")) ;;
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
    if {"-h", "--help"} & set(arguments):
        sys.stdout.write(_USAGE)
        return 0
    if len(arguments) != 1 or arguments[0] not in _SCRIPTS:
        raise UsageError(f"completion needs one of {', '.join(_SCRIPTS)}")
    sys.stdout.write(_SCRIPTS[arguments[0]]())
    return 0


def _bash() -> str:
    flags = " ".join(f"--{flag.name}" for flag in command_line.flags())
    return _BASH.format(flags=flags, commands=" ".join(SUBCOMMANDS))


def _zsh() -> str:
    return _ZSH + _bash()


def _fish() -> str:
    lines = [
        f"complete -c apiserver -n __fish_use_subcommand -f -a {name} -d '{_quoted(command.text)}'"
        for name, command in SUBCOMMANDS.items()
    ]
    lines += [f"complete -c apiserver -l {flag.name} -d '{_quoted(flag.help)}'" for flag in command_line.flags()]
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    """A text inside of single quotes of fish."""
    return text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", " ")


_SCRIPTS: Mapping[str, Callable[[], str]] = {"bash": _bash, "zsh": _zsh, "fish": _fish}
