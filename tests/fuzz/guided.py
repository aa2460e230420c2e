"""Guided: fuzzes one target with atheris, which looks for inputs that reach new code.

    python -m tests.fuzz.guided NAME --runs 100000 [--seed 1]

The exit status is 0 when every input was read or refused. Where atheris has no wheel, random changes of the seeds take
its place.
"""

import argparse
import importlib
import importlib.util
import sys
import tempfile
from collections.abc import Sequence
from random import Random
from typing import Any

LONGEST = 8_192


def main(words: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.guided", description="Fuzz one target.")
    parser.add_argument("name")
    parser.add_argument("--runs", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(words)
    if importlib.util.find_spec("atheris") is None:
        _unguided(given.name, given.runs, given.seed)
    else:
        _guided(importlib.import_module("atheris"), given.name, given.runs, given.seed)


def _guided(atheris: Any, name: str, runs: int, seed: int) -> None:
    with atheris.instrument_imports(include=["aio_apiserver"]):
        targets = importlib.import_module("tests.fuzz.targets")
    target = targets.TARGETS[name]
    with tempfile.TemporaryDirectory(prefix="fuzz-") as found:
        options = [f"-runs={runs}", f"-seed={seed}", f"-max_len={LONGEST}", "-timeout=20", "-print_final_stats=1"]
        atheris.Setup([name, *options, found, str(targets.SEEDS / name)], lambda data: targets.is_refused(target, data))
        atheris.Fuzz()


def _unguided(name: str, runs: int, seed: int) -> None:
    mutations, targets = (importlib.import_module(f"tests.fuzz.{one}") for one in ("mutations", "targets"))
    seeds, random = targets.seeds_of(name), Random(seed)
    for _ in range(runs):
        targets.is_refused(targets.TARGETS[name], mutations.near(random, random.choice(seeds))[:LONGEST])


if __name__ == "__main__":
    main(sys.argv[1:])
