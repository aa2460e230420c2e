"""KMS v2: the provider with a real plugin: stored format, rotation, and work without the plugin."""

import asyncio
import hashlib
import hmac
import logging
import os
from collections.abc import AsyncIterator
from pathlib import Path

import grpc
import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from aio_apiserver.base.clock import ManualClock
from aio_apiserver.storage.errors import Corrupt, Unavailable
from aio_apiserver.storage.transformers.kms_v2 import envelope
from aio_apiserver.storage.transformers.kms_v2.plugin import Encrypted, KmsClient, target
from aio_apiserver.storage.transformers.kms_v2.provider import KmsV2
from aio_apiserver.storage.transformers.kms_v2.read_key import ReadKeys
from aio_apiserver.storage.transformers.transformer import Plain
from tests.storage.transformers import steps
from tests.storage.transformers.kms_plugin import ANNOTATION, KmsPlugin, annotation_fields
from tests.storage.transformers.steps import at_once

CONTEXT = b"/registry/secrets/default/db"
LONG = 60.0
SHORT = 0.2


@pytest.fixture
async def plugin(tmp_path: Path) -> AsyncIterator[KmsPlugin]:
    plugin = KmsPlugin(tmp_path / "kms.sock")
    await plugin.start()
    yield plugin
    await plugin.stop()


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def kms(plugin: KmsPlugin, clock: ManualClock) -> AsyncIterator[KmsV2]:
    kms = KmsV2("vault", KmsClient(plugin.endpoint, timeout=LONG), clock)
    await kms.start()
    yield kms
    await kms.close()


@pytest.fixture
async def restarted(plugin: KmsPlugin, clock: ManualClock) -> AsyncIterator[KmsV2]:
    """A provider that has not seen the plugin, as after a restart."""
    kms = KmsV2("vault", KmsClient(plugin.endpoint, timeout=LONG), clock)
    yield kms
    await kms.close()


@pytest.fixture
async def impatient(plugin: KmsPlugin, clock: ManualClock) -> AsyncIterator[KmsV2]:
    """A provider that has not seen the plugin and does not wait for it."""
    kms = KmsV2("vault", KmsClient(plugin.endpoint, timeout=SHORT), clock)
    yield kms
    await kms.close()


async def rotated(plugin: KmsPlugin, kms: KmsV2, clock: ManualClock) -> None:
    """Rotate the plugin's key, and let the provider notice."""
    plugin.rotate("key-2")
    clock.advance(60)
    assert await kms.check() == ""


def sealed(plugin: KmsPlugin, data: bytes, *, kind: int, key: bytes) -> bytes:
    """A stored value that another server has written."""
    source = plugin.wrap(plugin.key_id, key)
    fields = [(1, data), (2, plugin.key_id.encode()), (3, source), *annotation_fields(4, plugin.annotations)]
    return steps.message([*fields, (5, kind)] if kind else fields)


class TestStoredFormat:
    async def test_a_value_is_an_encrypted_object_under_a_key_derived_from_the_seed(
        self, plugin: KmsPlugin, kms: KmsV2
    ) -> None:
        stored = steps.fields(await kms.to_storage(b"value", CONTEXT))

        (encrypted,), (key_id,), (source,), (annotation,), (kind,) = (stored[number] for number in range(1, 6))
        seed = plugin.unwrap(key_id.decode(), source, plugin.annotations)
        key = hmac.new(seed, encrypted[:32] + b"\x01", hashlib.sha256).digest()
        assert AESGCM(key).decrypt(encrypted[32:44], encrypted[44:], CONTEXT) == b"value"
        assert (key_id, kind) == (b"key-1", 1)
        assert steps.fields(annotation) == {1: [ANNOTATION.encode()], 2: [b"1"]}

    async def test_values_of_another_server_are_read(self, plugin: KmsPlugin, kms: KmsV2) -> None:
        seed, info, nonce = os.urandom(32), os.urandom(32), os.urandom(12)
        key = hmac.new(seed, info + b"\x01", hashlib.sha256).digest()
        encrypted = info + nonce + AESGCM(key).encrypt(nonce, b"value", CONTEXT)

        plain = await kms.from_storage(sealed(plugin, encrypted, kind=1, key=seed), CONTEXT)

        assert plain == Plain(b"value", is_stale=False)

    async def test_values_from_before_seeds_are_read_and_stale(self, plugin: KmsPlugin, kms: KmsV2) -> None:
        key, nonce = os.urandom(32), os.urandom(12)
        encrypted = nonce + AESGCM(key).encrypt(nonce, b"value", CONTEXT)

        plain = await kms.from_storage(sealed(plugin, encrypted, kind=0, key=key), CONTEXT)

        assert plain == Plain(b"value", is_stale=True)

    async def test_a_value_that_was_moved_to_another_key_is_corrupt(self, kms: KmsV2) -> None:
        stored = await kms.to_storage(b"value", CONTEXT)

        with pytest.raises(Corrupt, match="/registry/secrets/default/other"):
            await kms.from_storage(stored, b"/registry/secrets/default/other")

    async def test_a_single_changed_bit_is_corrupt(self, kms: KmsV2) -> None:
        stored = await kms.to_storage(b"value", CONTEXT)

        for bit in range(len(stored) * 8):
            with pytest.raises(Corrupt):
                await kms.from_storage(steps.flipped(stored, bit), CONTEXT)

    async def test_a_value_that_was_cut_is_corrupt(self, kms: KmsV2) -> None:
        stored = await kms.to_storage(b"value", CONTEXT)

        for size in range(len(stored)):
            with pytest.raises(Corrupt):
                await kms.from_storage(stored[:size], CONTEXT)

    @pytest.mark.parametrize("size", [0, 12, 31])
    async def test_a_data_key_of_an_impossible_length_is_corrupt(
        self, plugin: KmsPlugin, kms: KmsV2, size: int
    ) -> None:
        with pytest.raises(Corrupt, match="failed to decrypt the data key"):
            await kms.from_storage(sealed(plugin, b"x" * 64, kind=1, key=b"k" * size), CONTEXT)


class TestDataKeys:
    async def test_writes_share_a_data_key_and_reads_of_them_ask_nobody(self, plugin: KmsPlugin, kms: KmsV2) -> None:
        stored = [at_once(kms.to_storage(b"%d" % number, CONTEXT)) for number in range(100)]

        values = [at_once(kms.from_storage(data, CONTEXT)).data for data in stored]

        assert values == [b"%d" % number for number in range(100)]
        assert plugin.calls == {"Status": 1, "Encrypt": 1}

    async def test_a_restarted_server_asks_once_for_each_data_key(
        self, plugin: KmsPlugin, kms: KmsV2, restarted: KmsV2
    ) -> None:
        stored = [await kms.to_storage(b"value", CONTEXT) for _ in range(100)]

        for data in stored:
            await restarted.from_storage(data, CONTEXT)

        assert plugin.calls["Decrypt"] == 1
        assert restarted.statistics()["misses"] == 1
        assert restarted.statistics()["hits"] == 99

    async def test_readers_of_one_unknown_data_key_ask_together(
        self, plugin: KmsPlugin, kms: KmsV2, restarted: KmsV2
    ) -> None:
        stored = await kms.to_storage(b"value", CONTEXT)
        plugin.may_answer.clear()

        readers = [asyncio.ensure_future(restarted.from_storage(stored, CONTEXT)) for _ in range(10)]
        await asked_to(plugin, "Decrypt")
        plugin.may_answer.set()

        assert [plain.data for plain in await asyncio.gather(*readers)] == [b"value"] * 10
        assert plugin.calls["Decrypt"] == 1

    async def test_a_reader_that_gives_up_leaves_the_others_alone(
        self, plugin: KmsPlugin, kms: KmsV2, restarted: KmsV2
    ) -> None:
        stored = await kms.to_storage(b"value", CONTEXT)
        plugin.may_answer.clear()
        hasty = asyncio.ensure_future(restarted.from_storage(stored, CONTEXT))
        patient = asyncio.ensure_future(restarted.from_storage(stored, CONTEXT))
        await asked_to(plugin, "Decrypt")

        hasty.cancel()
        plugin.may_answer.set()

        assert (await patient).data == b"value"
        assert hasty.cancelled()

    async def test_the_least_recently_used_is_forgotten(self, plugin: KmsPlugin) -> None:
        client = KmsClient(plugin.endpoint, timeout=SHORT)
        keys = ReadKeys("vault", client)
        data_keys = [envelope.DataKey(envelope.SEED, Encrypted(b"%d" % number, "key-1")) for number in range(4097)]
        cipher = envelope.cipher_of(envelope.SEED, b"s" * 32)
        for data_key in data_keys[:4096]:
            keys.remember(data_key, cipher)

        assert keys.cached(data_keys[0]) is cipher
        keys.remember(data_keys[4096], cipher)

        assert keys.cached(data_keys[0]) is cipher
        assert keys.cached(data_keys[1]) is None
        assert keys.statistics()["data_keys"] == 4096
        await keys.close()
        await client.close()


class TestRotation:
    async def test_a_new_key_of_the_plugin_makes_old_values_stale(
        self, plugin: KmsPlugin, kms: KmsV2, clock: ManualClock
    ) -> None:
        old = await kms.to_storage(b"old", CONTEXT)

        await rotated(plugin, kms, clock)
        new = await kms.to_storage(b"new", CONTEXT)

        assert await kms.from_storage(old, CONTEXT) == Plain(b"old", is_stale=True)
        assert await kms.from_storage(new, CONTEXT) == Plain(b"new", is_stale=False)
        assert steps.fields(new)[2] == [b"key-2"]
        assert steps.fields(new)[3] != steps.fields(old)[3]

    async def test_the_plugin_is_asked_every_minute(self, plugin: KmsPlugin, kms: KmsV2, clock: ManualClock) -> None:
        for _ in range(3):
            await asked_to(plugin, "Status")
            await kms.check()
            clock.advance(60)
        await asked_to(plugin, "Status")
        await kms.check()

        assert plugin.calls["Status"] == 4
        assert plugin.calls["Encrypt"] == 1

    async def test_health_checks_share_an_answer_for_a_while(
        self, plugin: KmsPlugin, kms: KmsV2, clock: ManualClock
    ) -> None:
        for _ in range(10):
            await kms.check()
        clock.advance(19)
        await kms.check()

        assert plugin.calls["Status"] == 1

    async def test_without_a_key_of_its_own_a_server_calls_nothing_stale(self, kms: KmsV2, restarted: KmsV2) -> None:
        stored = await kms.to_storage(b"value", CONTEXT)

        assert await restarted.from_storage(stored, CONTEXT) == Plain(b"value", is_stale=False)

    async def test_statistics_show_no_key_id_but_its_hash(
        self, plugin: KmsPlugin, kms: KmsV2, clock: ManualClock
    ) -> None:
        await rotated(plugin, kms, clock)

        shown = kms.statistics()

        assert shown["key_id_hash"] == f"sha256:{hashlib.sha256(b'key-2').hexdigest()}"
        assert (shown["healthy"], shown["rotations"], shown["failed_checks"]) == (True, 2, 0)
        assert "key-2" not in repr(shown)


class TestFailingPlugin:
    @pytest.mark.parametrize(
        ("attribute", "value", "problem"),
        [
            ("healthz", "vault sealed", "got unexpected healthz status: vault sealed"),
            ("version", "v1", "expected KMSv2 API version v2, got v1"),
            ("key_id", "", "keyID is empty"),
            ("key_id", "k" * 1025, "keyID is 1025 bytes, which exceeds the max size of 1024"),
            ("failure", grpc.StatusCode.UNAUTHENTICATED, "Status: UNAUTHENTICATED: told to fail"),
            ("raw_answer", b"\xff\xff", "Status: the answer is not a protobuf StatusResponse"),
        ],
    )
    async def test_what_is_wrong_with_a_plugin_is_said(
        self, plugin: KmsPlugin, kms: KmsV2, clock: ManualClock, attribute: str, value: object, problem: str
    ) -> None:
        setattr(plugin, attribute, value)
        clock.advance(60)

        assert await kms.check() == problem
        assert not kms.statistics()["healthy"]

    @pytest.mark.parametrize(
        ("annotations", "problem"),
        [
            ({"unqualified": b""}, "annotation 'unqualified' should be a fully qualified domain name"),
            ({"Upper.example.org": b""}, "annotation 'Upper.example.org' should be a fully qualified domain name"),
            ({"big.example.org": b"x" * 32768}, "total size of annotations is 32783, which exceeds"),
        ],
    )
    async def test_a_data_key_that_may_not_be_stored_is_not_used(
        self, plugin: KmsPlugin, kms: KmsV2, clock: ManualClock, annotations: dict[str, bytes], problem: str
    ) -> None:
        plugin.rotate("key-2")
        plugin.annotations = annotations
        clock.advance(60)

        assert problem in await kms.check()
        assert steps.fields(await kms.to_storage(b"value", CONTEXT))[2] == [b"key-1"]

    async def test_a_plugin_that_encrypts_with_another_key_than_it_names_does_not_rotate(
        self, plugin: KmsPlugin, kms: KmsV2, clock: ManualClock
    ) -> None:
        plugin.rotate("key-2")
        plugin.encrypts_as = "key-1"
        clock.advance(60)

        assert "Status names keyID hash sha256:" in await kms.check()
        assert steps.fields(await kms.to_storage(b"value", CONTEXT))[2] == [b"key-1"]

    async def test_a_plugin_of_the_second_beta_is_well(self, plugin: KmsPlugin, kms: KmsV2, clock: ManualClock) -> None:
        plugin.version = "v2beta1"
        clock.advance(60)

        assert await kms.check() == ""

    async def test_writes_go_on_for_three_minutes_and_then_say_why_not(
        self, plugin: KmsPlugin, kms: KmsV2, clock: ManualClock
    ) -> None:
        plugin.failure = grpc.StatusCode.INTERNAL
        clock.advance(180)
        assert await kms.check() == "Status: INTERNAL: told to fail"
        await kms.to_storage(b"value", CONTEXT)

        clock.advance(1)

        with pytest.raises(Unavailable, match=r"KMS provider vault .* has expired: Status: INTERNAL: told to fail"):
            await kms.to_storage(b"value", CONTEXT)

    async def test_a_plugin_that_is_well_again_makes_the_old_data_key_good_again(
        self, plugin: KmsPlugin, kms: KmsV2, clock: ManualClock
    ) -> None:
        plugin.failure = grpc.StatusCode.INTERNAL
        clock.advance(600)
        await kms.check()
        with pytest.raises(Unavailable):
            await kms.to_storage(b"value", CONTEXT)

        plugin.failure = None
        clock.advance(10)
        await kms.check()

        await kms.to_storage(b"value", CONTEXT)
        assert plugin.calls["Encrypt"] == 1

    async def test_a_failing_plugin_is_asked_again_after_ten_seconds(
        self, plugin: KmsPlugin, kms: KmsV2, clock: ManualClock
    ) -> None:
        await asked_to(plugin, "Status")
        plugin.failure = grpc.StatusCode.INTERNAL
        clock.advance(60)
        await asked_to(plugin, "Status")
        assert await kms.check()

        plugin.failure = None
        clock.advance(10)
        await asked_to(plugin, "Status")

        assert await kms.check() == ""

    async def test_a_problem_is_logged_once_and_not_with_every_look(
        self, plugin: KmsPlugin, kms: KmsV2, clock: ManualClock, caplog: pytest.LogCaptureFixture
    ) -> None:
        plugin.healthz = "vault sealed"

        with caplog.at_level(logging.ERROR):
            for _ in range(3):
                clock.advance(60)
                await kms.check()

        assert [record.message for record in caplog.records] == [
            "KMS provider vault is not healthy: got unexpected healthz status: vault sealed"
        ]

    async def test_a_data_key_that_the_plugin_refuses_is_corrupt(
        self, plugin: KmsPlugin, kms: KmsV2, restarted: KmsV2
    ) -> None:
        stored = await kms.to_storage(b"value", CONTEXT)
        plugin.keys["key-1"] = AESGCM.generate_key(256)

        with pytest.raises(Corrupt, match=r"KMS provider vault failed to decrypt the data key: .*not encrypted by me"):
            await restarted.from_storage(stored, CONTEXT)

    async def test_a_plugin_that_cannot_answer_makes_unavailable_and_the_read_can_be_repeated(
        self, plugin: KmsPlugin, kms: KmsV2, restarted: KmsV2
    ) -> None:
        stored = await kms.to_storage(b"value", CONTEXT)
        plugin.failure = grpc.StatusCode.UNKNOWN
        with pytest.raises(
            Unavailable, match="data of /registry/secrets/default/db cannot be read: KMS provider vault"
        ):
            await restarted.from_storage(stored, CONTEXT)

        plugin.failure = None

        assert (await restarted.from_storage(stored, CONTEXT)).data == b"value"


class TestAbsentPlugin:
    async def test_reads_with_known_data_keys_go_on(self, plugin: KmsPlugin, kms: KmsV2) -> None:
        stored = await kms.to_storage(b"value", CONTEXT)

        await plugin.stop()

        assert at_once(kms.from_storage(stored, CONTEXT)).data == b"value"

    async def test_reads_with_unknown_data_keys_are_unavailable(
        self, plugin: KmsPlugin, kms: KmsV2, impatient: KmsV2
    ) -> None:
        stored = await kms.to_storage(b"value", CONTEXT)
        await plugin.stop()

        with pytest.raises(Unavailable, match="KMS provider vault failed to decrypt the data key: Decrypt: "):
            await impatient.from_storage(stored, CONTEXT)

    async def test_a_server_starts_without_its_plugin_and_says_so_in_writes_and_health(
        self, plugin: KmsPlugin, impatient: KmsV2
    ) -> None:
        await plugin.stop()

        await impatient.start()

        assert "Status: " in await impatient.check()
        with pytest.raises(Unavailable, match="KMS provider vault has no data key to encrypt with: Status: "):
            await impatient.to_storage(b"value", CONTEXT)

    async def test_a_plugin_that_comes_back_is_found(
        self, plugin: KmsPlugin, impatient: KmsV2, clock: ManualClock
    ) -> None:
        await plugin.stop()
        assert await impatient.check()

        await plugin.start()
        async with asyncio.timeout(30):
            while await impatient.check():
                clock.advance(10)

        stored = await impatient.to_storage(b"value", CONTEXT)
        assert (await impatient.from_storage(stored, CONTEXT)).data == b"value"

    async def test_a_plugin_that_hangs_is_given_up_after_the_timeout(
        self, plugin: KmsPlugin, kms: KmsV2, impatient: KmsV2
    ) -> None:
        stored = await kms.to_storage(b"value", CONTEXT)
        plugin.may_answer.clear()

        with pytest.raises(Unavailable, match="Decrypt: DEADLINE_EXCEEDED"):
            await impatient.from_storage(stored, CONTEXT)


class TestClose:
    async def test_readers_that_wait_for_the_plugin_get_their_answer(
        self, plugin: KmsPlugin, kms: KmsV2, restarted: KmsV2
    ) -> None:
        stored = await kms.to_storage(b"value", CONTEXT)
        plugin.may_answer.clear()
        reader = asyncio.ensure_future(restarted.from_storage(stored, CONTEXT))
        await asked_to(plugin, "Decrypt")

        closing = asyncio.ensure_future(restarted.close())
        plugin.may_answer.set()
        await closing

        assert (await reader).data == b"value"

    async def test_what_needs_the_plugin_afterwards_is_unavailable(self, kms: KmsV2, restarted: KmsV2) -> None:
        stored = await kms.to_storage(b"value", CONTEXT)

        await restarted.close()
        await restarted.close()

        with pytest.raises(Unavailable, match="the connection was closed"):
            await restarted.from_storage(stored, CONTEXT)


@pytest.mark.parametrize(
    ("endpoint", "dialled"),
    [
        ("unix:///var/run/kms.sock", "unix:/var/run/kms.sock"),
        ("unix:///@kms", "unix-abstract:kms"),
    ],
)
def test_endpoints_are_paths_or_abstract_sockets(endpoint: str, dialled: str) -> None:
    assert target(endpoint) == dialled


async def asked_to(plugin: KmsPlugin, method: str) -> None:
    """Wait for the next call of the plugin."""
    while await plugin.asked.get() != method:
        pass
