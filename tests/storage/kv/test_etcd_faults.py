"""The etcd engine when its member is away, is full, or refuses: clear errors in time, and recovery without help."""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import grpc.aio
import pytest
from aetcd import rpc

from aio_apiserver.base.clock import ManualClock
from aio_apiserver.storage.errors import Compacted, InvalidOptions, NoSpace, TooLarge, Unavailable
from aio_apiserver.storage.health import Health
from aio_apiserver.storage.kv.etcd import EtcdConfig, EtcdKV, Tls, endpoints
from aio_apiserver.storage.kv.etcd.revision import RevisionSeen
from aio_apiserver.storage.kv.etcd.token import Token
from aio_apiserver.storage.kv.interface import KV, prefix_end
from aio_apiserver.storage.record import Record
from tests.storage.kv.certificates import Authority
from tests.storage.kv.etcd_server import Member
from tests.storage.kv.steps import create, next_events, read, take, update
from tests.storage.kv.tcp_proxy import TcpProxy

BRIEF = 0.4
"""A deadline for requests that the test expects to fail."""

LONG = 30.0
"""A deadline for requests that the test expects to succeed after retries."""


@asynccontextmanager
async def engine(*endpoints: str, deadline: float = LONG, tls: Tls | None = None) -> AsyncIterator[EtcdKV]:
    kv = EtcdKV(EtcdConfig(endpoints=endpoints, deadline=deadline, tls=tls or Tls()))
    try:
        yield kv
    finally:
        await kv.close()


@pytest.fixture
def member(etcd_binary: Path) -> Iterator[Member]:
    with Member(binary=etcd_binary) as member:
        yield member


@pytest.fixture
def absent() -> Iterator[Member]:
    """A member that has not been started."""
    member = Member()
    yield member
    member.remove()


class TestUnreachable:
    async def test_every_request_fails_in_time_and_clearly(self, absent: Member) -> None:
        async with engine(absent.endpoint, deadline=BRIEF) as kv:
            with pytest.raises(Unavailable, match="Connection refused"):
                await kv.get(b"a")
            with pytest.raises(Unavailable, match="Connection refused"):
                await kv.put(b"a", b"value", expected_mod_revision=0)
            with pytest.raises(Unavailable, match="Connection refused"):
                await kv.grant_lease(10)
            with pytest.raises(Unavailable, match="Connection refused"):
                async with kv.watch(b"a", b"b", revision=1):
                    pass

    async def test_health_says_why(self, absent: Member) -> None:
        async with engine(absent.endpoint, deadline=BRIEF) as kv:
            health = await kv.health()

        assert not health.healthy
        assert "Connection refused" in health.reason

    async def test_requests_wait_for_a_member_that_comes_in_time(self, absent: Member) -> None:
        async with engine(absent.endpoint) as kv:
            writing = asyncio.create_task(create(kv, b"a"))
            watching = asyncio.create_task(anext_of_watch(kv, b"a"))
            await asyncio.to_thread(absent.start)

            record = await writing

            assert await read(kv, b"a") == record
            assert await watching == [record]
            assert (await kv.health()).healthy

    async def test_a_name_that_does_not_resolve_is_unavailable(self) -> None:
        async with engine("http://etcd.invalid:2379", deadline=BRIEF) as kv:
            with pytest.raises(Unavailable):
                await kv.get(b"a")

    @pytest.mark.parametrize("url", ["ftp://a:1", "http://", "http://a:99999", "http://a:1/path", "unix://"])
    async def test_an_endpoint_that_is_none_is_refused(self, url: str) -> None:
        with pytest.raises(InvalidOptions, match="etcd endpoint"):
            EtcdKV(EtcdConfig(endpoints=[url]))


class TestRestart:
    async def test_requests_go_on_after_a_restart(self, member: Member) -> None:
        async with engine(member.endpoint) as kv:
            record = await create(kv, b"a")
            await asyncio.to_thread(member.kill)
            reading = asyncio.create_task(read(kv, b"a"))
            await asyncio.to_thread(member.start)

            assert await reading == record
            assert (await update(kv, record)).version == 2

    async def test_a_member_that_fails_again_and_again_is_logged_every_ten_seconds(
        self, member: Member, caplog: pytest.LogCaptureFixture
    ) -> None:
        caplog.set_level(logging.INFO, endpoints.__name__)
        clock, config = ManualClock(), EtcdConfig(endpoints=[member.endpoint])
        members = endpoints.Endpoints(config, Token(config.login, has_alternatives=False), RevisionSeen(), clock)
        for seconds in (0, 1, 1, 10):
            clock.advance(seconds)
            members.leave(await members.wait_until_up(LONG), "it fails")
        await members.wait_until_up(LONG)
        await members.close()

        url = member.endpoint
        assert [record.getMessage() for record in caplog.records] == [
            f"etcd endpoint {url} is left: it fails",
            f"etcd endpoint {url} is up",
            f"etcd endpoint {url} is left: it fails (left 2 times since the last line)",
            f"etcd endpoint {url} is up",
        ]

    async def test_a_watch_goes_on_behind_what_it_has_delivered(self, member: Member) -> None:
        async with engine(member.endpoint) as kv:
            first = await create(kv, b"a")
            async with kv.watch(b"a", b"b", revision=first.mod_revision) as batches:
                before = await take(batches, 1)
                await asyncio.to_thread(member.restart)
                second = await update(kv, first)
                third = await update(kv, second)

                after = await take(batches, 2)

        assert [event.record for event in before + after] == [first, second, third]
        assert [event.previous for event in after] == [first, second]

    async def test_requests_fail_in_time_when_the_member_is_gone(self, member: Member) -> None:
        async with engine(member.endpoint, deadline=BRIEF) as kv:
            record = await create(kv, b"a")
            await asyncio.to_thread(member.kill)

            with pytest.raises(Unavailable):
                await kv.get(b"a")
            with pytest.raises(Unavailable):
                await update(kv, record)

    async def test_requests_fail_in_time_when_the_member_is_silent(self, member: Member) -> None:
        async with engine(member.endpoint, deadline=BRIEF) as kv:
            record = await create(kv, b"a")
            member.pause()

            with pytest.raises(Unavailable):
                await kv.get(b"a")
            with pytest.raises(Unavailable):
                await update(kv, record)
            member.resume()


class TestDisconnectedWatch:
    @pytest.fixture
    async def proxy(self, member: Member) -> AsyncIterator[TcpProxy]:
        async with TcpProxy(member.client_port) as proxy:
            yield proxy

    async def test_it_misses_and_repeats_nothing(self, member: Member, proxy: TcpProxy) -> None:
        async with engine(member.endpoint) as direct, engine(f"http://127.0.0.1:{proxy.port}") as kv:
            record = await create(direct, b"a", b"0")
            written = [record]
            async with kv.watch(b"a", b"b", revision=record.mod_revision) as batches:
                seen = await take(batches, 1)
                for number in range(1, 10):
                    proxy.partition()
                    written.append(await update(direct, written[-1], b"%d" % number))
                    proxy.heal()
                    written.append(await update(direct, written[-1], b"%d" % number))
                while len(seen) < len(written):
                    seen.extend((await next_events(batches)).events)

        assert [event.record for event in seen] == written

    async def test_it_learns_of_a_compaction(self, member: Member, proxy: TcpProxy) -> None:
        async with engine(member.endpoint) as direct, engine(f"http://127.0.0.1:{proxy.port}") as kv:
            first = await create(direct, b"a")
            async with kv.watch(b"a", b"b", revision=first.mod_revision) as batches:
                await take(batches, 1)
                proxy.partition()
                second = await update(direct, first)
                third = await update(direct, second)
                await direct.compact(third.mod_revision)
                proxy.heal()

                with pytest.raises(Compacted) as refusal:
                    await next_events(batches)

        assert (refusal.value.revision, refusal.value.compact_revision) == (second.mod_revision, third.mod_revision)

    async def test_what_was_delivered_may_be_compacted(self, member: Member, proxy: TcpProxy) -> None:
        async with engine(member.endpoint) as direct, engine(f"http://127.0.0.1:{proxy.port}") as kv:
            first = await create(direct, b"a")
            async with kv.watch(b"a", b"b", revision=first.mod_revision) as batches:
                await take(batches, 1)
                proxy.partition()
                second = await update(direct, first)
                await direct.compact(second.mod_revision)
                proxy.heal()

                assert [event.record for event in await take(batches, 1)] == [second]


class TestRefusals:
    async def test_a_compacted_revision_tells_what_is_kept(self, member: Member) -> None:
        async with engine(member.endpoint) as kv:
            first = await create(kv, b"a")
            second = await update(kv, first)
            await update(kv, second)
            await kv.compact(second.mod_revision)

            with pytest.raises(Compacted) as refusal:
                await kv.get(b"a", revision=first.mod_revision)

        assert (refusal.value.revision, refusal.value.compact_revision) == (first.mod_revision, second.mod_revision)

    async def test_a_request_that_is_too_large_by_its_key_is_too_large(self, member: Member) -> None:
        async with engine(member.endpoint) as kv:
            with pytest.raises(TooLarge, match="request is too large"):
                await kv.put(bytes(600_000), b"value", expected_mod_revision=0)
            with pytest.raises(TooLarge, match="larger than max"):
                await kv.put(bytes(800_000), b"value", expected_mod_revision=0)  # the request has it three times

    async def test_a_member_with_a_lower_limit_has_the_last_word(self, etcd_binary: Path) -> None:
        with Member(binary=etcd_binary, flags=["--max-request-bytes=10000"]) as member:
            async with engine(member.endpoint) as kv:
                with pytest.raises(TooLarge):
                    await kv.put(b"a", bytes(20_000), expected_mod_revision=0)

                await create(kv, b"a", bytes(5_000))

    async def test_a_lease_may_not_last_forever(self, member: Member) -> None:
        async with engine(member.endpoint) as kv:
            with pytest.raises(InvalidOptions, match="too large lease TTL"):
                await kv.grant_lease(10_000_000_000)


class TestNoSpace:
    @pytest.fixture
    def member(self, etcd_binary: Path) -> Iterator[Member]:
        with Member(binary=etcd_binary, flags=["--quota-backend-bytes=4000000"]) as member:
            yield member

    async def test_writes_fail_reads_go_on_and_room_helps(self, member: Member) -> None:
        async with engine(member.endpoint) as kv:
            record = await create(kv, b"a", bytes(1_000_000))
            with pytest.raises(NoSpace):
                await update_until_refused(kv, record)

            last = await read(kv, b"a")
            assert last is not None
            assert last.version > 1
            full = await kv.health()
            assert full.healthy
            assert full.reason.startswith(f"{member.endpoint}: ")
            assert "NOSPACE" in full.reason
            with pytest.raises(NoSpace):
                await create(kv, b"b", b"small")

            await make_room(member, last.mod_revision)

            await create(kv, b"b", b"small")
            assert await kv.health() == Health(healthy=True)


class TestTls:
    @pytest.fixture
    def authority(self, tmp_path: Path) -> Authority:
        return Authority(tmp_path)

    @pytest.fixture
    def member(self, authority: Authority, etcd_binary: Path) -> Iterator[Member]:
        with Member(binary=etcd_binary, tls=authority.issue("server")) as member:
            yield member

    async def test_a_server_of_another_authority_is_not_trusted(
        self, member: Member, authority: Authority, tmp_path: Path
    ) -> None:
        client = authority.issue("client")
        stranger = Authority(tmp_path, name="stranger")
        tls = Tls(authority=stranger.file, certificate=client.certificate, key=client.key)

        async with engine(member.endpoint, tls=tls, deadline=BRIEF) as kv:
            with pytest.raises(Unavailable, match="CERTIFICATE_VERIFY_FAILED"):
                await kv.get(b"a")

    async def test_a_client_of_another_authority_is_not_served(
        self, member: Member, authority: Authority, tmp_path: Path
    ) -> None:
        client = Authority(tmp_path, name="stranger").issue("intruder")
        tls = Tls(authority=authority.file, certificate=client.certificate, key=client.key)

        async with engine(member.endpoint, tls=tls, deadline=BRIEF) as kv:
            with pytest.raises(Unavailable):
                await kv.put(b"a", b"value", expected_mod_revision=0)

    async def test_a_client_without_certificate_is_not_served(self, member: Member, authority: Authority) -> None:
        async with engine(member.endpoint, tls=Tls(authority=authority.file), deadline=BRIEF) as kv:
            with pytest.raises(Unavailable):
                await kv.get(b"a")

    async def test_plain_text_is_not_served(self, member: Member) -> None:
        async with engine(member.endpoint.replace("https", "http"), deadline=BRIEF) as kv:
            with pytest.raises(Unavailable):
                await kv.get(b"a")

    async def test_files_that_are_replaced_are_used(self, member: Member, authority: Authority, tmp_path: Path) -> None:
        client = authority.issue("client")
        renewed = client.certificate.read_bytes(), client.key.read_bytes()
        outdated = Authority(tmp_path, name="outdated").issue("client")
        tls = Tls(authority=authority.file, certificate=outdated.certificate, key=outdated.key)

        async with engine(member.endpoint, tls=tls) as kv:
            reading = asyncio.create_task(kv.get(b"a"))
            assert not (await kv.health()).healthy
            for path, content in zip((outdated.certificate, outdated.key), renewed, strict=True):
                path.write_bytes(content)

            assert (await reading).record is None

    async def test_missing_files_are_refused_at_once(self, member: Member, tmp_path: Path) -> None:
        with pytest.raises(InvalidOptions, match="no certificates for etcd"):
            EtcdKV(EtcdConfig(endpoints=[member.endpoint], tls=Tls(authority=tmp_path / "none")))


class TestLargeData:
    async def test_a_range_of_many_objects_is_read_at_one_revision(self, member: Member) -> None:
        value = bytes(2_000)
        async with engine(member.endpoint) as kv:
            numbers = iter(range(6_000))

            async def write() -> None:
                for number in numbers:
                    await create(kv, b"/large/%05d" % number, value)

            await asyncio.gather(*[write() for _ in range(32)])
            reading = asyncio.create_task(kv.range(b"/large/", prefix_end(b"/large/")))
            late = await create(kv, b"/large/99999", value)

            result = await reading
            cut = await kv.range(b"/large/", prefix_end(b"/large/"), limit=5_000)
            keys = await kv.range(b"/large/", prefix_end(b"/large/"), keys_only=True)

        assert [record.key for record in result.records[:6_000]] == [b"/large/%05d" % number for number in range(6_000)]
        assert (late in result.records) == (result.count == 6_001) == (len(result.records) == 6_001)
        assert (len(cut.records), cut.count, cut.more) == (5_000, 6_001, True)
        assert [record.key for record in keys.records][-1] == late.key
        assert (keys.count, keys.more) == (6_001, False)


async def anext_of_watch(kv: KV, key: bytes) -> list[object]:
    """The first record that a watch of one key from revision 1 sees."""
    async with kv.watch(key, key + b"\x00", revision=1) as batches:
        return [event.record for event in await take(batches, 1)]


async def update_until_refused(kv: KV, record: Record) -> None:
    """Write a large value over and over."""
    while True:
        record = await update(kv, record, bytes(1_000_000))


async def make_room(member: Member, revision: int) -> None:
    """Free a full member as an administrator does: compact, defragment, disarm the alarm."""
    async with grpc.aio.insecure_channel(member.endpoint.removeprefix("http://")) as channel:
        await rpc.KVStub(channel).Compact(rpc.CompactionRequest(revision=revision, physical=True))
        maintenance = rpc.MaintenanceStub(channel)
        await maintenance.Defragment(rpc.DefragmentRequest())
        own = (await maintenance.Status(rpc.StatusRequest())).header.member_id
        disarm = rpc.AlarmRequest(action=rpc.AlarmRequest.DEACTIVATE, memberID=own, alarm=rpc.NOSPACE)
        await maintenance.Alarm(disarm)
