from pathlib import Path

import pytest

from aio_apiserver.base.clock import ManualClock
from aio_apiserver.registry.controlplane.bootstrap import authentication_trust
from aio_apiserver.registry.controlplane.bootstrap.authentication_trust import Trust
from aio_apiserver.registry.generic.in_process_client import ResourcePath
from tests.registry.controlplane.bootstrap.test_upkeep import Begun, begun, factory
from tests.storage.kv.certificates import Authority

__all__ = ["begun", "factory"]  # fixtures

CONFIG_MAPS = ResourcePath("", "v1", "configmaps")
NOW = 1_900_000_000.0
AFTER_ALL_HAVE_EXPIRED = 5_049_129_600.0


@pytest.fixture
def ours(tmp_path: Path) -> str:
    return Authority(tmp_path, "ours").file.read_text()


@pytest.fixture
def theirs(tmp_path: Path) -> str:
    return Authority(tmp_path, "theirs").file.read_text()


def test_authorities_are_told_beside_those_of_others_once(ours: str, theirs: str) -> None:
    trust = Trust(client_authorities=(ours + ours).encode())

    first = authentication_trust.data_of(trust, {"client-ca-file": theirs}, now=NOW)
    again = authentication_trust.data_of(trust, first, now=NOW)

    assert first == again == {"client-ca-file": theirs + ours}


def test_what_has_expired_is_not_told(ours: str, theirs: str) -> None:
    trust = Trust(client_authorities=ours.encode())

    assert authentication_trust.data_of(trust, {"client-ca-file": theirs}, now=AFTER_ALL_HAVE_EXPIRED) == {}


def test_what_cannot_be_read_is_told_anew(ours: str) -> None:
    trust = Trust(client_authorities=ours.encode())

    assert authentication_trust.data_of(trust, {"client-ca-file": "?"}, now=NOW) == {"client-ca-file": ours}


def test_headers_are_told_with_the_ca_of_front_proxies(ours: str) -> None:
    trust = Trust(
        proxy_authorities=ours.encode(),
        username_headers=("X-Remote-User",),
        group_headers=("X-Remote-Group",),
        extra_prefixes=("X-Remote-Extra-",),
        allowed_names=("front",),
    )

    data = authentication_trust.data_of(trust, {"requestheader-allowed-names": '["other","front"]'}, now=NOW)

    assert data == {
        "requestheader-client-ca-file": ours,
        "requestheader-username-headers": '["X-Remote-User"]',
        "requestheader-group-headers": '["X-Remote-Group"]',
        "requestheader-extra-headers-prefix": '["X-Remote-Extra-"]',
        "requestheader-allowed-names": '["other","front"]',
    }


async def test_it_is_written_when_there_is_something_to_tell(begun: Begun, ours: str) -> None:
    async def names() -> list[str]:
        return [one["metadata"]["name"] for one in await begun.client.all(CONFIG_MAPS, namespace="kube-system")]

    await authentication_trust.ensure(begun.client, Trust(), ManualClock(NOW))
    before = await names()
    for _ in range(2):
        await authentication_trust.ensure(begun.client, Trust(client_authorities=ours.encode()), ManualClock(NOW))

    assert "extension-apiserver-authentication" not in before
    assert "extension-apiserver-authentication" in await names()
