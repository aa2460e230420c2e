"""What a real kube-apiserver answered, against the answers of two workers that share a store in SQLite."""

from collections.abc import Iterator

import pytest

from tests.golden import replay, servers


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with servers.running(tmp_path_factory.mktemp("golden-workers"), "--workers=2") as address:
        yield address


@pytest.mark.parametrize("area", ["crud", "listwatch"])
def test_recorded_steps_are_answered_alike_by_workers(url: str, area: str) -> None:
    outcomes = replay.play_calmly(url, area)

    assert replay.unlisted(area, outcomes) == []
    assert replay.mended(area, outcomes) == []
