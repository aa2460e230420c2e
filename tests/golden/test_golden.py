"""What a real kube-apiserver answered, against our answers: nothing that was right may go wrong unseen."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import program
from tests.golden import replay

FLAGS = (
    "--authorization-mode=RBAC",
    "--service-cluster-ip-range=10.0.0.0/24",
    f"--token-auth-file={replay.HERE / 'tokens.csv'}",
    "--disable-admission-plugins=ServiceAccount",
)
REPLAYED = ("crud", "discovery", "listwatch")


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    directory: Path = tmp_path_factory.mktemp("golden")
    with program.running(directory, *FLAGS) as started:
        yield started.url


@pytest.mark.timeout(300)
@pytest.mark.parametrize("area", REPLAYED)
def test_recorded_steps_are_answered_alike_but_for_the_listed_ones(url: str, area: str) -> None:
    listed = _listed(area)

    different = replay.differing(replay.replay(url, area))

    assert _beyond(different, listed) == {}, "answered right before, or new: mend it, or list it with its reason"
    assert _beyond(listed, different) == {}, "answered right now: take it off the list"


@pytest.mark.parametrize("area", REPLAYED)
def test_known_differences_are_one_in_a_hundred_at_the_most(area: str) -> None:
    steps = sum(len(scenario["steps"]) for scenario in replay.scenarios_of(area))

    known = replay.read_ledger(replay.KNOWN_DIFFERENCES)

    assert sum(len(numbers) for key, (numbers, _) in known.items() if key[0] == area) <= steps / 100


def _listed(area: str) -> dict[str, set[int]]:
    listed: dict[str, set[int]] = {}
    for ledger in (replay.WAITING, replay.KNOWN_DIFFERENCES):
        for (of_area, scenario), (numbers, _) in replay.read_ledger(ledger).items():
            if of_area == area:
                listed.setdefault(scenario, set()).update(numbers)
    return listed


def _beyond(some: dict[str, set[int]], others: dict[str, set[int]]) -> dict[str, str]:
    beyond = {name: numbers - others.get(name, set()) for name, numbers in some.items()}
    return {name: replay.show_steps(numbers) for name, numbers in beyond.items() if numbers}
