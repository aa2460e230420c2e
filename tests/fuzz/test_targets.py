"""Decoders, parsers, selectors and patches refuse wrong bytes with errors of their own. `make soak` tries more."""

from random import Random

import pytest

from tests.fuzz import mutations, targets

MUTATED = 400


@pytest.mark.parametrize("name", targets.TARGETS)
def test_wrong_bytes_are_read_or_refused(name: str) -> None:
    target, seeds, random = targets.TARGETS[name], targets.seeds_of(name), Random(name)

    outcomes = [targets.is_refused(target, seed) for seed in seeds]
    outcomes += [targets.is_refused(target, mutations.near(random, random.choice(seeds))) for _ in range(MUTATED)]

    assert len(outcomes) == len(seeds) + MUTATED


def test_each_target_has_seeds() -> None:
    assert {path.name for path in targets.SEEDS.iterdir()} == set(targets.TARGETS)
