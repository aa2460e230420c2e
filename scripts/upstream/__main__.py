"""The command `scripts/generate`: writes the tables that are taken from Kubernetes, or checks them.

The source is a git clone of Kubernetes, which has all releases as tags, or the unpacked source of one release.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from aio_apiserver.registry.base.timeline import PATCHES, Version, text_of, version_of
from scripts.upstream import changes, generation, trees
from scripts.upstream.problems import NotUnderstood, Unusable

ROOT = Path(__file__).parents[2]


def main(arguments: Sequence[str]) -> int:
    """Run the command. Returns the exit code."""
    options = _parser().parse_args(arguments)
    try:
        return _run(options.kubernetes_source, _minors(options), is_check=options.check)
    except (NotUnderstood, Unusable) as exc:
        sys.stderr.write(f"scripts/generate: {exc}\n")
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="scripts/generate", description="Write the tables taken from Kubernetes.")
    parser.add_argument(
        "--kubernetes-source", type=Path, required=True, metavar="DIR", help="a git clone, or the source of one release"
    )
    parser.add_argument("--minor", metavar="1.38", help="the only minor to read; needed where the source is no clone")
    parser.add_argument("--check", action="store_true", help="write nothing; fail when a table would change")
    return parser


def _minors(options: argparse.Namespace) -> Sequence[Version]:
    """The minors to read. Raises Unusable."""
    if options.minor:
        known = {text_of(minor): minor for minor in PATCHES}
        if options.minor not in known:
            raise Unusable(f"add the release of {options.minor} to PATCHES in registry/base/timeline.py")
        return [version_of(options.minor)]
    if not trees.is_clone(options.kubernetes_source):
        raise Unusable(f"{options.kubernetes_source} is no git clone: say with --minor which release it is")
    return list(PATCHES)


def _run(source: Path, minors: Sequence[Version], *, is_check: bool) -> int:
    all_made = generation.made(ROOT, source, minors)
    paths = generation.different(ROOT, all_made)
    sys.stdout.write(changes.text([change for made in all_made for change in changes.changes(made)]))
    for path in paths:
        sys.stdout.write(f"{'would change' if is_check else 'wrote'} {path}\n")
    if is_check:
        return 1 if paths else 0
    generation.write(ROOT, all_made)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
