"""What a real kube-apiserver answered, against our answers: nothing that was right may go wrong unseen."""

from collections.abc import Iterator

import pytest

from tests.golden import replay, servers


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with servers.running(tmp_path_factory.mktemp("golden")) as address:
        yield address


@pytest.mark.timeout(400)  # hundreds of steps, one after the other
@pytest.mark.parametrize("area", replay.AREAS)
def test_recorded_steps_are_answered_alike_but_for_the_listed_ones(url: str, area: str) -> None:
    outcomes = replay.play_calmly(url, area)

    assert replay.unlisted(area, outcomes) == []
    assert replay.mended(area, outcomes) == []


@pytest.mark.parametrize("area", [*replay.AREAS, replay.KUBECTL])
def test_known_differences_are_one_in_a_hundred_at_the_most(area: str) -> None:
    known = replay.read_ledger(replay.KNOWN_DIFFERENCES)

    differences = sum(len(numbers) for (of_area, _), (numbers, _) in known.items() if of_area == area)

    assert differences <= replay.count_steps(area) / 100


def test_ledgers_list_recorded_scenarios_only() -> None:
    recorded = {(area, scenario["name"]) for area in replay.AREAS for scenario in replay.scenarios_of(area)}
    recorded |= {(replay.KUBECTL, session["name"]) for session in replay.kubectl_sessions()}

    listed = replay.read_ledger(replay.WAITING).keys() | replay.read_ledger(replay.KNOWN_DIFFERENCES).keys()

    assert listed <= recorded
