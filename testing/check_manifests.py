"""check_manifests: `apiserver check-manifests`, which tells what an upgrade of the cluster does to manifests.

It starts a server in memory for each minor from --from to --to, and creates the manifests there as a dry run. It
compares what the servers answer. Must hold: the exit code is 1 when a manifest would be refused, warned of or changed.
"""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from aio_apiserver.apiserver.commands.terminal import command_lines, output
from aio_apiserver.apiserver.commands.terminal.command_lines import text_flag
from aio_apiserver.apiserver.config.flag_grammar import UsageError
from aio_apiserver.apiserver.config.manuals import CommandExample, CommandManual
from aio_apiserver.registry.base import minors
from aio_apiserver.registry.base.minors import Minor
from aio_apiserver.testing import manifest_checks

_OWN = (
    text_flag("from", "The minor of Kubernetes that the manifests are for."),
    text_flag("to", "The minor that they are checked with; all minors between both are tried."),
    output.flag(),
)
MANUAL = CommandManual(
    about="Shows which manifests another minor of Kubernetes refuses, warns of or changes. PATH is a file or a folder "
    "with YAML or JSON.",
    usage=("check-manifests --from MINOR --to MINOR [-o table|yaml|json] PATH ...",),
    flags=_OWN,
    finding="a manifest would be refused, warned of or changed",
    examples=(CommandExample("check-manifests --from 1.34 --to 1.36 manifests/", "before an upgrade of two minors"),),
)
_FLAGS = {"--from": "--from", "--to": "--to", "--output": "--output", "-o": "--output"}
_HEAD = ("MANIFEST", "MINOR", "EFFECT", "DETAIL")


def run(arguments: Sequence[str]) -> int:
    """Print the table. Returns the exit code. Raises UsageError."""
    if command_lines.wants_help(arguments, MANUAL):
        return 0
    options, paths = _parsed(arguments)
    form = output.checked(options.pop("--output", "table"))
    try:
        tried = _between({name: _minor(name, text) for name, text in options.items()})
        found = manifest_checks.check(tried, [Path(path) for path in paths])
    except OSError as exc:
        return command_lines.failed(command_lines.reason(exc))
    except ValueError as exc:
        raise exc if isinstance(exc, UsageError) else UsageError(f"check-manifests: {exc}") from exc
    _show(found, form)
    return 1 if any(one.effect != manifest_checks.ACCEPTED for one in found) else 0


def _show(found: Sequence[manifest_checks.ManifestFinding], form: str) -> None:
    if not found and form == "table":
        sys.stdout.write("No manifest is refused, warned of or changed.\n")
        return
    output.show(
        form,
        head=_HEAD,
        rows=[(one.manifest, one.minor, one.effect, one.detail) for one in found],
        document=lambda: [msgspec.to_builtins(one) for one in found],
    )


def _parsed(arguments: Sequence[str]) -> tuple[dict[str, str], Sequence[str]]:
    """The flags, and the paths. Raises UsageError."""
    options: dict[str, str] = {}
    paths: list[str] = []
    left = iter(arguments)
    for argument in left:
        name, has_value, value = argument.partition("=")
        if name in _FLAGS:
            options[_FLAGS[name]] = value if has_value else next(left, "")
        elif argument.startswith("-"):
            raise UsageError(f"check-manifests: unknown flag {argument}")
        else:
            paths.append(argument)
    if not paths or not {"--from", "--to"} <= options.keys():
        raise UsageError("check-manifests needs --from, --to and a path")
    return options, paths


def _minor(name: str, text: str) -> Minor:
    if not text:
        raise UsageError(f"check-manifests: {name} needs a minor")
    try:
        return minors.parse(text)
    except ValueError as exc:
        raise UsageError(f"check-manifests: {name}: {exc}") from exc


def _between(options: Mapping[str, Minor]) -> Sequence[Minor]:
    """The minors from --from to --to, in this order."""
    first, last = options["--from"].version, options["--to"].version
    low, high = sorted((first, last))
    found = [minor for minor in minors.KNOWN.values() if low <= minor.version <= high]
    return found if first <= last else found[::-1]
