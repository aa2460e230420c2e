"""What kube-apiserver of other minors answered differently to the same requests, against a server of that minor.

The scenarios of two areas are played here; `make soak` plays all of them.
"""

from collections.abc import Iterator

import pytest

from tests.golden import replay, servers

AREAS = ("discovery", "tables")


@pytest.fixture(scope="module", params=replay.MINORS)
def minor(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture(scope="module")
def url(minor: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with servers.running(tmp_path_factory.mktemp("golden"), f"--kubernetes-version={minor}") as address:
        yield address


@pytest.mark.parametrize("area", AREAS)
def test_a_server_of_another_minor_answers_as_its_kube_apiserver(url: str, minor: str, area: str) -> None:
    only = replay.differing_scenarios(minor, area)

    outcomes = replay.play_calmly(url, area, only=only, minor=minor)

    assert replay.unlisted(area, outcomes, minor) == []


@pytest.mark.parametrize("area", replay.AREAS)
@pytest.mark.parametrize("of_minor", replay.MINORS)
def test_known_differences_of_a_minor_are_one_in_a_hundred_at_the_most(of_minor: str, area: str) -> None:
    known = replay.read_ledger(replay.KNOWN_DIFFERENCES) | replay.read_ledger(replay.known_of(of_minor))

    differences = sum(len(numbers) for (of_area, _), (numbers, _) in known.items() if of_area == area)

    assert differences <= replay.count_steps(area) / 100
