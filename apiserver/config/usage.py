"""Usage: the texts of --help and docs/flags.md, both made from the settings.

    python -m aio_apiserver.apiserver.config.usage > docs/flags.md

Pure. Must hold: flags are grouped and laid out as kube-apiserver does it.
"""

import sys
import textwrap
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from msgspec.structs import replace

from aio_apiserver.apiserver.config import command_line
from aio_apiserver.apiserver.config.flag_grammar import HELP, VERSION, Flag
from aio_apiserver.apiserver.config.flags.flag_types import FlagType
from aio_apiserver.apiserver.config.flags.generic_flags import BETA_VERSIONS
from aio_apiserver.apiserver.config.flags.unused_flags import UNUSED
from aio_apiserver.apiserver.config.settings import ENVIRONMENT
from aio_apiserver.registry.base import minors
from aio_apiserver.registry.base.deferred import Deferred

if TYPE_CHECKING:
    from aio_apiserver.registry.controlplane import providers
else:
    providers = Deferred("aio_apiserver.registry.controlplane.providers")

_ABOUT = """\
The Kubernetes API server validates and configures data for the api objects
which include pods, services, replicationcontrollers, and others. The API Server
services REST operations and provides the frontend to the cluster's shared state
through which all other components interact."""

_GROUPS = (
    "Local",
    "Generic",
    "Etcd",
    "Secure serving",
    "Authentication",
    "Authorization",
    "Admission",
    "Auditing",
    "Features",
    "Logs",
    "Traces",
    "Misc",
    "Global",
)
_LEAST_COLUMNS = 60


def help_text(columns: int = 0) -> str:
    """The text of --help, wrapped to a width. 0 columns: not wrapped."""
    sections = [_ABOUT, "Usage:\n  apiserver [flags]\n  apiserver COMMAND [arguments] [flags]\n  apiserver help"]
    sections += [f"{group} flags:\n\n{_layout(flags, columns)}" for group, flags in grouped()]
    variables = "\n".join(f"  {name}  {text}" for name, text in ENVIRONMENT.items())
    sections.append(f"Environment:\n\n{variables}")
    sections.append(
        "Flags of kube-apiserver that have no effect here are read and warned about; docs/flags.md lists them."
    )
    return "\n\n".join(sections) + "\n"


def markdown() -> str:
    """The text of docs/flags.md."""
    parts = [
        "# Flags\n\nThe names, the grammar and the meaning are kube-apiserver's; `apiserver --help` prints the same. "
        "The flags under *Local* are this server's own.\n"
    ]
    for group, flags in grouped():
        rows = "".join(
            f"| `--{flag.name}` | {flag.kind.value} | {_cell(flag.default)} | {flag.help} |\n" for flag in flags
        )
        parts.append(f"## {group}\n\n| flag | type | default | meaning |\n|---|---|---|---|\n{rows}")
    rows = "".join(f"| `{name}` | {text} |\n" for name, text in ENVIRONMENT.items())
    parts.append(f"## Environment\n\n| variable | meaning |\n|---|---|\n{rows}")
    names = textwrap.fill(", ".join(f"`--{name}`" for name in sorted(UNUSED)), 120, break_on_hyphens=False)
    parts.append(f"## Known and not used\n\nThese are read and warned about; they have no effect.\n\n{names}\n")
    return "\n".join(parts)


def grouped() -> Iterable[tuple[str, list[Flag]]]:
    """The flags of the server by group."""
    ordered = sorted((*command_line.flags(), HELP, VERSION), key=lambda flag: (_GROUPS.index(flag.group), flag.name))
    return [(group, list(map(_filled, flags))) for group, flags in groupby(ordered, key=lambda flag: flag.group)]


def _filled(flag: Flag) -> Flag:
    """The flag with the beta versions in its help text."""
    if BETA_VERSIONS not in flag.help:
        return flag
    named = ", ".join(sorted("/".join(one) for one in providers.beta_versions(minors.Minor())))
    return replace(flag, help=flag.help.replace(BETA_VERSIONS, named))


def _layout(flags: Sequence[Flag], columns: int) -> str:
    """One line for each flag: its name and type, then its help in a column of its own."""
    heads = [_head(flag) for flag in flags]
    indent = max(map(len, heads)) + 3
    lines = []
    for flag, head in zip(flags, heads, strict=True):
        default = f" (default {flag.default})" if flag.default else ""
        text = head.ljust(indent) + flag.help + default
        if columns >= _LEAST_COLUMNS:
            text = textwrap.fill(text, columns, subsequent_indent=" " * indent, break_on_hyphens=False)
        lines.append(text)
    return "\n".join(lines)


def _head(flag: Flag) -> str:
    short = f"  -{flag.shorthand}, " if flag.shorthand else "      "
    kind = "" if flag.kind is FlagType.BOOL else f" {flag.kind.value}"
    return f"{short}--{flag.name}{kind}"


def _cell(text: str) -> str:
    return f"`{text}`" if text else ""


if __name__ == "__main__":
    sys.stdout.write(markdown())
