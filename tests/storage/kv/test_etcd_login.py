"""The etcd engine as a user of etcd's authentication: tokens that expire, and missing rights."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from aio_apiserver.storage.errors import Unauthenticated
from aio_apiserver.storage.kv.etcd import EtcdConfig, EtcdKV, Login
from aio_apiserver.storage.kv.interface import KV
from tests.storage.kv.etcd_server import Member
from tests.storage.kv.etcd_users import CLERK, FAST_PASSWORDS, Administrator
from tests.storage.kv.steps import create, next_events, read, take, update


@pytest.fixture
def flags() -> list[str]:
    return [FAST_PASSWORDS]


@pytest.fixture
def member(flags: list[str], etcd_binary: Path) -> Iterator[Member]:
    with Member(binary=etcd_binary, flags=flags) as member:
        yield member


@pytest.fixture
async def administrator(member: Member) -> AsyncIterator[Administrator]:
    administrator = Administrator(member)
    await administrator.enable()
    yield administrator
    await administrator.close()


@pytest.fixture
async def kv(member: Member, administrator: Administrator) -> AsyncIterator[KV]:
    engine = EtcdKV(EtcdConfig(endpoints=[member.endpoint], login=CLERK))
    yield engine
    await engine.close()


class TestLogin:
    async def test_a_user_does_what_it_may(self, kv: KV) -> None:
        record = await create(kv, b"/registry/a")
        changed = await update(kv, record)

        assert await read(kv, b"/registry/a") == changed
        assert await kv.current_revision() == changed.mod_revision
        assert (await kv.health()).healthy
        async with kv.watch(b"/registry/", b"/registry0", revision=record.mod_revision) as batches:
            assert [event.record for event in await take(batches, 2)] == [record, changed]

    async def test_a_wrong_password_is_refused(self, member: Member, administrator: Administrator) -> None:
        config = EtcdConfig(endpoints=[member.endpoint], login=Login("clerk", "wrong"))
        kv = EtcdKV(config)

        with pytest.raises(Unauthenticated, match="invalid user ID or password"):
            await kv.get(b"/registry/a")
        with pytest.raises(Unauthenticated):
            await kv.put(b"/registry/a", b"value", expected_mod_revision=0)
        async with kv.watch(b"/registry/", b"/registry0", revision=1) as batches:
            with pytest.raises(Unauthenticated):
                await next_events(batches)
        assert "invalid user ID or password" in (await kv.health()).reason
        await kv.close()

    async def test_nobody_is_refused(self, member: Member, administrator: Administrator) -> None:
        kv = EtcdKV(EtcdConfig(endpoints=[member.endpoint]))

        with pytest.raises(Unauthenticated):
            await kv.get(b"/registry/a")
        with pytest.raises(Unauthenticated):
            await kv.put(b"/registry/a", b"value", expected_mod_revision=0)
        async with kv.watch(b"/registry/", b"/registry0", revision=1) as batches:
            with pytest.raises(Unauthenticated):
                await next_events(batches)
        await kv.close()

    async def test_a_login_does_no_harm_where_none_is_wanted(self, member: Member) -> None:
        kv = EtcdKV(EtcdConfig(endpoints=[member.endpoint], login=CLERK))

        record = await create(kv, b"/registry/a")

        assert await read(kv, b"/registry/a") == record
        await kv.close()

    async def test_a_password_shows_nowhere(self) -> None:
        assert CLERK.password not in repr(EtcdConfig(endpoints=["http://a:1"], login=CLERK))


class TestPermissions:
    async def test_what_is_not_permitted_is_refused(self, kv: KV) -> None:
        with pytest.raises(Unauthenticated, match="permission denied"):
            await kv.get(b"/other")
        with pytest.raises(Unauthenticated, match="permission denied"):
            await kv.put(b"/other", b"value", expected_mod_revision=0)

    async def test_a_watch_that_is_not_permitted_ends_and_others_go_on(self, kv: KV) -> None:
        record = await create(kv, b"/registry/a")
        async with (
            kv.watch(b"/registry/", b"/registry0", revision=record.mod_revision) as permitted,
            kv.watch(b"/other/", b"/other0", revision=record.mod_revision) as refused,
        ):
            with pytest.raises(Unauthenticated, match="permission denied"):
                await next_events(refused)
            changed = await update(kv, record)

            assert [event.record for event in await take(permitted, 2)] == [record, changed]


class TestTokens:
    async def test_a_token_that_the_server_has_forgotten_is_renewed(self, kv: KV, member: Member) -> None:
        record = await create(kv, b"/registry/a")
        await asyncio.to_thread(member.restart)

        changed = await update(kv, record)

        assert await read(kv, b"/registry/a") == changed

    async def test_a_watch_goes_on_with_a_new_token(self, kv: KV, member: Member) -> None:
        record = await create(kv, b"/registry/a")
        async with kv.watch(b"/registry/", b"/registry0", revision=record.mod_revision) as batches:
            await take(batches, 1)
            await asyncio.to_thread(member.restart)
            changed = await update(kv, record)

            assert [event.record for event in await take(batches, 1)] == [changed]

    async def test_many_refused_requests_are_repeated(self, kv: KV, member: Member) -> None:
        await create(kv, b"/registry/a")
        await asyncio.to_thread(member.restart)

        records = await asyncio.gather(*[create(kv, b"/registry/b%d" % number) for number in range(30)])

        assert len({record.mod_revision for record in records}) == 30

    async def test_a_changed_password_ends_what_the_token_allowed(self, kv: KV, administrator: Administrator) -> None:
        record = await create(kv, b"/registry/a")
        await administrator.change_password(CLERK.user, "another password")

        with pytest.raises(Unauthenticated):
            await update(kv, record)


class TestSignedTokens:
    @pytest.fixture
    def flags(self, tmp_path: Path) -> list[str]:
        key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        private, public = tmp_path / "token.key", tmp_path / "token.pub"
        private.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
            )
        )
        public.write_bytes(
            key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
        )
        return [FAST_PASSWORDS, f"--auth-token=jwt,pub-key={public},priv-key={private},sign-method=RS256,ttl=10m"]

    async def test_a_token_that_has_become_old_is_renewed(self, kv: KV, administrator: Administrator) -> None:
        record = await create(kv, b"/registry/a")
        async with kv.watch(b"/registry/", b"/registry0", revision=record.mod_revision) as before:
            await administrator.add_role("another")
            changed = await update(kv, record)
            async with kv.watch(b"/registry/", b"/registry0", revision=changed.mod_revision) as after:
                assert [event.record for event in await take(after, 1)] == [changed]

            assert [event.record for event in await take(before, 2)] == [record, changed]
