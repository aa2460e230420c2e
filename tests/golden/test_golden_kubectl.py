"""What kubectl printed against a real kube-apiserver, against what it prints here."""

import shutil
from collections.abc import Iterator

import pytest

from tests.golden import replay, servers

pytestmark = pytest.mark.skipif(shutil.which("kubectl") is None, reason="there is no kubectl on this machine")


@pytest.fixture
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with servers.running(tmp_path_factory.mktemp("golden-kubectl")) as address:
        yield address


def test_commands_print_the_same_but_for_the_listed_ones(url: str) -> None:
    outcomes = replay.play_calmly(url, replay.KUBECTL)

    assert replay.unlisted(replay.KUBECTL, outcomes) == []
    assert replay.mended(replay.KUBECTL, outcomes) == []
