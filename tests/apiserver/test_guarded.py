"""Guarded hosts: names and addresses of nodes, checked when they are dialled."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest
from aiohttp import hdrs
from multidict import CIMultiDict

from aio_apiserver.apiserver.config.settings import Settings
from aio_apiserver.apiserver.outgoing.backends import Backends
from aio_apiserver.apiserver.outgoing.guarded import GuardedResolver
from aio_apiserver.apiserver.outgoing.relay_client import Unreachable
from aio_apiserver.registry.base.errors import BadRequest
from aio_apiserver.registry.base.locations import Location, Passage
from tests.apiserver.serving import LOOPBACK
from tests.stream_servers import talking

ALLOWED = ("192.0.2.1", "2001:db8::1")


class Rebinding:
    """A name whose addresses change with each lookup."""

    def __init__(self, *answers: Sequence[str]) -> None:
        self._answers = list(answers)
        self.asked: list[str] = []

    async def __call__(self, host: str) -> Sequence[str]:
        self.asked.append(host)
        return self._answers.pop(0)


def at(host: str, port: int = 1) -> Location:
    return Location(passage=Passage.PROXY, scheme="http", host=host, port=str(port), path="/", is_guarded=True)


async def reach(backends: Backends, location: Location, *, upgrades: bool) -> None:
    """Connect to the location, with a request or a tunnel."""
    if upgrades:
        await backends.open(location)
        return
    url = f"http://{location.authority}/"
    async with backends.request(location, hdrs.METH_GET, url, headers=CIMultiDict()):
        pass


@pytest.mark.parametrize("upgrades", [False, True])
@pytest.mark.parametrize(
    "host",
    [LOOPBACK, "localhost", "127.1", "0", "0.0.0.0", "2130706433", "::1", "::127.0.0.1"],  # noqa: S104 - dialled
)
async def test_a_host_that_means_this_machine_is_not_dialled(tmp_path: Path, host: str, upgrades: bool) -> None:
    """CVE-2020-8562."""
    dialled = []

    async def talk(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        dialled.append(writer)
        writer.close()

    backends = Backends(Settings(data_dir=tmp_path))
    try:
        async with talking(talk) as port:
            with pytest.raises((BadRequest, Unreachable)):
                await reach(backends, at(host, port), upgrades=upgrades)
    finally:
        await backends.close()

    assert dialled == []


@pytest.mark.parametrize("upgrades", [False, True])
async def test_a_name_is_refused_when_one_of_its_addresses_is_not_allowed(tmp_path: Path, upgrades: bool) -> None:
    lookup = Rebinding([*ALLOWED, LOOPBACK])
    backends = Backends(Settings(data_dir=tmp_path), lookup=lookup)
    try:
        with pytest.raises(BadRequest, match="address not allowed"):
            await reach(backends, at("node.example"), upgrades=upgrades)
    finally:
        await backends.close()

    assert lookup.asked == ["node.example"]


async def test_a_name_is_dialled_at_the_addresses_that_were_judged() -> None:
    """CVE-2020-8562: a second lookup would give another address, and does not happen."""
    lookup = Rebinding(ALLOWED, [LOOPBACK])

    found = await GuardedResolver(lookup).resolve("node.example", 443)

    assert [one["host"] for one in found] == list(ALLOWED)
    assert lookup.asked == ["node.example"]


async def test_a_name_without_addresses_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadRequest):
        await GuardedResolver(Rebinding([])).addresses("node.example")
