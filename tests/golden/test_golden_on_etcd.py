"""What a real kube-apiserver answered, against our answers with the objects in a real etcd."""

from collections.abc import Iterator

import pytest

from tests.golden import replay, servers
from tests.storage.kv.etcd_server import Member


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    directory = tmp_path_factory.mktemp("golden-etcd")
    with Member() as etcd, servers.running(directory, f"--etcd-servers={etcd.endpoint}") as address:
        yield address


@pytest.mark.parametrize("area", ["crud", "listwatch"])
def test_recorded_steps_are_answered_alike_on_etcd(url: str, area: str) -> None:
    outcomes = replay.play_calmly(url, area)

    assert replay.unlisted(area, outcomes) == []
    assert replay.mended(area, outcomes) == []
