"""check_manifests: `apiserver check-manifests`, which tells what an upgrade of the cluster does to manifests.

It starts a server in memory for each minor from --from to --to, and creates the manifests there as a dry run. It
compares what the servers answer. Must hold: the exit code is 1 when a manifest would be refused, warned of or changed.
"""

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from aio_apiserver.apiserver.config.flag_grammar import UsageError
from aio_apiserver.apiserver.testing import manifest_checks
from aio_apiserver.apiserver.testing.manifest_checks import ManifestFinding
from aio_apiserver.registry.base import minors
from aio_apiserver.registry.base.minors import Minor

_USAGE = """\
Shows which manifests another minor of Kubernetes refuses, warns of or changes, as a table. The exit code is 1 when
there are any.

Usage:
  apiserver check-manifests --from MINOR --to MINOR PATH ...

PATH is a file or a folder with YAML or JSON. All minors from --from to --to are tried.
"""
_HEAD = ("MANIFEST", "MINOR", "EFFECT", "DETAIL")


def run(arguments: Sequence[str]) -> int:
    """Print the table. Returns the exit code. Raises UsageError."""
    if {"-h", "--help"} & set(arguments):
        sys.stdout.write(_USAGE)
        return 0
    options, paths = _parsed(arguments)
    try:
        found = manifest_checks.check(_between(options), [Path(path) for path in paths])
    except (OSError, ValueError) as exc:
        raise UsageError(f"check-manifests: {exc}") from exc
    sys.stdout.write("".join(_table(found)) if found else "No manifest is refused, warned of or changed.\n")
    return 1 if any(one.effect != manifest_checks.ACCEPTED for one in found) else 0


def _parsed(arguments: Sequence[str]) -> tuple[Mapping[str, Minor], Sequence[str]]:
    """The minors of --from and --to, and the paths. Raises UsageError."""
    options: dict[str, Minor] = {}
    paths: list[str] = []
    left = iter(arguments)
    for argument in left:
        name, has_value, value = argument.partition("=")
        if name in ("--from", "--to"):
            options[name] = _minor(name, value if has_value else next(left, ""))
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


def _table(findings: Iterable[ManifestFinding]) -> Iterator[str]:
    rows = [_HEAD, *((one.manifest, one.minor, one.effect, one.detail) for one in findings)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEAD) - 1)]
    for row in rows:
        yield "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[-1]]) + "\n"
