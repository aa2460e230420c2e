"""Service: the transformer of each resource, and the effect of a changed file."""

import asyncio
import hashlib
import logging
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from aio_apiserver.base.clock import ManualClock
from aio_apiserver.storage.encryption.config import InvalidEncryptionConfig
from aio_apiserver.storage.encryption.service import Encryption
from aio_apiserver.storage.errors import Corrupt, Unavailable
from aio_apiserver.storage.health import Health
from aio_apiserver.storage.transformers.transformer import Plain, Transformer
from tests.storage.encryption.encryption_files import IDENTITY, configuration, keyed, kms, rule, secret
from tests.storage.transformers.kms_plugin import KmsPlugin
from tests.storage.transformers.steps import at_once

CONTEXT = b"/registry/secrets/default/db"

Starter = Callable[..., Awaitable[Encryption]]


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "encryption.yaml"


@pytest.fixture
async def start(path: Path, clock: ManualClock) -> AsyncIterator[Starter]:
    started = []

    async def start(content: bytes, *, reloads: bool = False) -> Encryption:
        put(path, content)
        started.append(await Encryption.start(path, clock=clock, reloads=reloads))
        return started[-1]

    yield start
    for encryption in started:
        await encryption.close()


@pytest.fixture
async def plugin(tmp_path: Path) -> AsyncIterator[KmsPlugin]:
    plugin = KmsPlugin(tmp_path / "kms.sock")
    await plugin.start()
    yield plugin
    await plugin.stop()


def writer(transformer: Transformer) -> bytes:
    """The prefix of the values that it writes."""
    stored = at_once(transformer.to_storage(b"value", CONTEXT))
    return b":".join(stored.split(b":")[:5]) if stored != b"value" else b""


async def test_the_narrowest_rule_is_for_a_resource(start: Starter) -> None:
    encryption = await start(
        configuration(
            rule(["events"], IDENTITY),
            rule(["secrets", "pandas.bears.example"], keyed("aescbc", "one")),
            rule(["*.apps"], keyed("aesgcm", "two")),
            rule(["*."], keyed("secretbox", "three")),
            rule(["*.*"], keyed("aesgcm", "four")),
        )
    )

    assert writer(encryption.transformer("", "events")) == b""
    assert writer(encryption.transformer("", "secrets")) == b"k8s:enc:aescbc:v1:one"
    assert writer(encryption.transformer("bears.example", "pandas")) == b"k8s:enc:aescbc:v1:one"
    assert writer(encryption.transformer("apps", "deployments")) == b"k8s:enc:aesgcm:v1:two"
    assert writer(encryption.transformer("", "configmaps")) == b"k8s:enc:secretbox:v1:three"
    assert writer(encryption.transformer("batch", "jobs")) == b"k8s:enc:aesgcm:v1:four"


async def test_resources_without_a_rule_are_stored_as_they_are(start: Starter) -> None:
    encryption = await start(configuration(rule(["secrets"], keyed("aescbc", "a"))))

    transformer = encryption.transformer("", "pods")

    assert transformer.is_identity
    assert writer(transformer) == b""
    with pytest.raises(Corrupt, match="identity transformer tried to read encrypted data"):
        at_once(transformer.from_storage(b"k8s:enc:aescbc:v1:a:x", CONTEXT))


async def test_a_rule_of_identity_alone_costs_nothing(start: Starter) -> None:
    encryption = await start(configuration(rule(["events"], IDENTITY), rule(["*.*"], keyed("aescbc", "a"))))

    assert encryption.transformer("", "events").is_identity
    assert not encryption.transformer("", "pods").is_identity


async def test_providers_of_several_rules_for_a_resource_follow_each_other(start: Starter) -> None:
    encryption = await start(
        configuration(rule(["secrets"], keyed("aescbc", "a")), rule(["secrets"], keyed("aesgcm", "b")))
    )
    other = await start(configuration(rule(["secrets"], keyed("aesgcm", "b"))))
    stored = at_once(other.transformer("", "secrets").to_storage(b"value", CONTEXT))

    plain = at_once(encryption.transformer("", "secrets").from_storage(stored, CONTEXT))

    assert plain == Plain(b"value", is_stale=True)
    assert writer(encryption.transformer("", "secrets")) == b"k8s:enc:aescbc:v1:a"


async def test_every_key_of_a_provider_reads_and_the_first_writes(start: Starter) -> None:
    before = await start(configuration(rule(["secrets"], keyed("aescbc", "a"))))
    stored = at_once(before.transformer("", "secrets").to_storage(b"value", CONTEXT))

    after = await start(configuration(rule(["secrets"], keyed("aescbc", "b", "a"))))

    assert at_once(after.transformer("", "secrets").from_storage(stored, CONTEXT)) == Plain(b"value", is_stale=True)
    assert writer(after.transformer("", "secrets")) == b"k8s:enc:aescbc:v1:b"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "encryption.yaml is empty"),
        (b"[", "encryption.yaml: line 1"),
        (configuration(), "encryption.yaml: resources: Required value"),
        (configuration(rule(["secrets"], {}, {})), "any of the expected .*, .*any of the expected"),
    ],
)
async def test_a_server_does_not_start_on_a_file_that_it_cannot_use(
    start: Starter, content: bytes, message: str
) -> None:
    with pytest.raises(InvalidEncryptionConfig, match=message):
        await start(content)


async def test_a_server_does_not_start_without_its_file(path: Path, clock: ManualClock) -> None:
    with pytest.raises(InvalidEncryptionConfig, match=r"encryption\.yaml cannot be read: No such file or directory"):
        await Encryption.start(path, clock=clock)


class TestReload:
    async def test_a_new_file_takes_effect_for_all_resources_at_once(self, start: Starter, path: Path) -> None:
        encryption = await start(configuration(rule(["secrets"], keyed("aescbc", "a"))), reloads=True)
        secrets, pods = encryption.transformer("", "secrets"), encryption.transformer("", "pods")
        stored = at_once(secrets.to_storage(b"value", CONTEXT))

        put(path, configuration(rule(["*.*"], keyed("aesgcm", "b"), keyed("aescbc", "a"), IDENTITY)))
        assert await encryption.reload()

        assert writer(secrets) == writer(pods) == b"k8s:enc:aesgcm:v1:b"
        assert not pods.is_identity
        assert at_once(secrets.from_storage(stored, CONTEXT)) == Plain(b"value", is_stale=True)
        assert encryption.transformer("", "secrets") is secrets

    async def test_encryption_can_be_given_up(self, start: Starter, path: Path) -> None:
        encryption = await start(configuration(rule(["secrets"], keyed("aescbc", "a"))), reloads=True)
        secrets = encryption.transformer("", "secrets")
        stored = at_once(secrets.to_storage(b"value", CONTEXT))

        put(path, configuration(rule(["secrets"], IDENTITY, keyed("aescbc", "a"))))
        assert await encryption.reload()

        assert at_once(secrets.from_storage(stored, CONTEXT)) == Plain(b"value", is_stale=True)
        assert writer(secrets) == b""

    async def test_the_file_is_looked_at_every_minute(self, start: Starter, path: Path, clock: ManualClock) -> None:
        encryption = await start(configuration(rule(["secrets"], keyed("aescbc", "a"))), reloads=True)
        await turns()

        for number, name in enumerate("bcd", start=1):
            put(path, configuration(rule(["secrets"], keyed("aescbc", name))))
            clock.advance(60)
            await turns()

            assert encryption.statistics()["reloads"] == {"success": number}

    async def test_a_server_that_does_not_reload_keeps_what_it_started_with(
        self, start: Starter, path: Path, clock: ManualClock
    ) -> None:
        encryption = await start(configuration(rule(["secrets"], keyed("aescbc", "a"))))
        await turns()

        put(path, configuration(rule(["secrets"], keyed("aescbc", "b"))))
        clock.advance(600)
        await turns()

        assert writer(encryption.transformer("", "secrets")) == b"k8s:enc:aescbc:v1:a"

    async def test_the_same_content_is_no_change(self, start: Starter, path: Path) -> None:
        content = configuration(rule(["secrets"], keyed("aescbc", "a")))
        encryption = await start(content, reloads=True)

        put(path, content)

        assert not await encryption.reload()
        assert encryption.statistics()["reloads"] == {}

    @pytest.mark.parametrize(
        "content",
        [
            b"",
            b"[",
            b"\x00",
            pytest.param(b"[" * 5_000, marks=pytest.mark.holds_the_loop("the watchdog sees 100 frames of the parser")),
            configuration(rule(["secrets"], {"aescbc": {"keys": [{"name": "a", "secret": secret("z", 31)}]}})),
        ],
    )
    async def test_a_file_that_cannot_be_used_changes_nothing_and_is_logged(
        self, start: Starter, path: Path, caplog: pytest.LogCaptureFixture, content: bytes
    ) -> None:
        encryption = await start(configuration(rule(["secrets"], keyed("aescbc", "a"))), reloads=True)
        before = encryption.statistics()["config_hash"]

        put(path, content)
        assert not await encryption.reload()

        assert writer(encryption.transformer("", "secrets")) == b"k8s:enc:aescbc:v1:a"
        assert encryption.statistics()["reloads"] == {"failure": 1}
        assert encryption.statistics()["config_hash"] == before
        (record,) = (record for record in caplog.records if record.levelno == logging.ERROR)
        assert str(path) in record.message
        assert secret("z", 31) not in caplog.text

    async def test_a_file_that_is_gone_changes_nothing(self, start: Starter, path: Path) -> None:
        encryption = await start(configuration(rule(["secrets"], keyed("aescbc", "a"))), reloads=True)

        put(path, None)

        assert not await encryption.reload()
        assert writer(encryption.transformer("", "secrets")) == b"k8s:enc:aescbc:v1:a"

    async def test_a_repaired_file_is_taken_over(self, start: Starter, path: Path) -> None:
        encryption = await start(configuration(rule(["secrets"], keyed("aescbc", "a"))), reloads=True)
        put(path, b"[")
        await encryption.reload()

        put(path, configuration(rule(["secrets"], keyed("aescbc", "b"))))

        assert await encryption.reload()
        assert writer(encryption.transformer("", "secrets")) == b"k8s:enc:aescbc:v1:b"

    async def test_statistics_tell_what_is_used_and_outlive_a_reload(
        self, start: Starter, path: Path, clock: ManualClock
    ) -> None:
        encryption = await start(configuration(rule(["secrets"], keyed("aescbc", "a"))), reloads=True)
        secrets = encryption.transformer("", "secrets")
        stored = at_once(secrets.to_storage(b"value", CONTEXT))
        content = configuration(rule(["secrets"], keyed("aesgcm", "b"), keyed("aescbc", "a")))
        put(path, content)
        await encryption.reload()

        at_once(secrets.from_storage(stored, CONTEXT))

        assert encryption.statistics() == {
            "config_hash": f"sha256:{hashlib.sha256(content).hexdigest()}",
            "reloads": {"success": 1},
            "last_reload": {"success": clock.now()},
            "transformations": {
                "secrets": {
                    ("to_storage", "k8s:enc:aescbc:v1:a:"): 1,
                    ("from_storage", "k8s:enc:aescbc:v1:a:"): 1,
                }
            },
            "kms": {},
        }


class TestKms:
    async def test_values_are_written_under_the_name_of_the_provider(self, start: Starter, plugin: KmsPlugin) -> None:
        encryption = await start(configuration(rule(["secrets"], kms(plugin.endpoint))))
        secrets = encryption.transformer("", "secrets")

        stored = at_once(secrets.to_storage(b"value", CONTEXT))

        assert stored.startswith(b"k8s:enc:kms:v2:vault:")
        assert at_once(secrets.from_storage(stored, CONTEXT)) == Plain(b"value", is_stale=False)
        assert encryption.statistics()["kms"]["vault"]["healthy"]

    async def test_health_is_the_plugins(self, start: Starter, plugin: KmsPlugin, clock: ManualClock) -> None:
        encryption = await start(configuration(rule(["secrets"], kms(plugin.endpoint))))
        assert await encryption.health() == Health(healthy=True)

        plugin.healthz = "sealed"
        clock.advance(60)

        assert await encryption.health() == Health(
            healthy=False, reason="kms-provider-0 vault: got unexpected healthz status: sealed"
        )

    async def test_the_health_check_is_there_with_plugins_or_reloads(self, start: Starter, plugin: KmsPlugin) -> None:
        keys = configuration(rule(["secrets"], keyed("aescbc", "a")))

        assert (await start(configuration(rule(["secrets"], kms(plugin.endpoint))))).has_health_check
        assert (await start(keys, reloads=True)).has_health_check
        assert not (await start(keys)).has_health_check

    async def test_a_new_file_whose_plugin_is_not_well_changes_nothing(
        self, start: Starter, path: Path, plugin: KmsPlugin, caplog: pytest.LogCaptureFixture
    ) -> None:
        encryption = await start(configuration(rule(["secrets"], keyed("aescbc", "a"))), reloads=True)
        plugin.healthz = "sealed"

        put(path, configuration(rule(["secrets"], kms(plugin.endpoint), keyed("aescbc", "a"))))
        assert not await encryption.reload()

        assert writer(encryption.transformer("", "secrets")) == b"k8s:enc:aescbc:v1:a"
        assert "health check of the new providers failed: kms-provider-0 vault: got unexpected" in caplog.text

    async def test_a_new_file_with_a_plugin_is_taken_over_when_it_is_well(
        self, start: Starter, path: Path, plugin: KmsPlugin
    ) -> None:
        encryption = await start(configuration(rule(["secrets"], keyed("aescbc", "a"))), reloads=True)
        secrets = encryption.transformer("", "secrets")
        stored = at_once(secrets.to_storage(b"value", CONTEXT))

        put(path, configuration(rule(["secrets"], kms(plugin.endpoint), keyed("aescbc", "a"))))
        assert await encryption.reload()

        assert writer(secrets) == b"k8s:enc:kms:v2:vault"
        assert at_once(secrets.from_storage(stored, CONTEXT)) == Plain(b"value", is_stale=True)

    async def test_a_reader_that_waits_for_a_plugin_outlives_the_reload(
        self, start: Starter, path: Path, plugin: KmsPlugin
    ) -> None:
        first = await start(configuration(rule(["secrets"], kms(plugin.endpoint))))
        stored = at_once(first.transformer("", "secrets").to_storage(b"value", CONTEXT))
        encryption = await start(configuration(rule(["secrets"], kms(plugin.endpoint))), reloads=True)
        plugin.asked = asyncio.Queue()
        plugin.may_answer.clear()
        reader = asyncio.ensure_future(encryption.transformer("", "secrets").from_storage(stored, CONTEXT))
        assert await plugin.asked.get() == "Decrypt"

        put(path, configuration(rule(["secrets"], keyed("aescbc", "a"))))
        reloading = asyncio.ensure_future(encryption.reload())
        await turns()
        assert not encryption.transformer("", "secrets").is_identity
        assert writer(encryption.transformer("", "secrets")) == b"k8s:enc:aescbc:v1:a"
        plugin.may_answer.set()

        assert (await reader).data == b"value"
        assert await reloading

    async def test_a_server_can_be_closed_in_the_midst_of_a_reload(
        self, start: Starter, path: Path, plugin: KmsPlugin, clock: ManualClock
    ) -> None:
        encryption = await start(configuration(rule(["secrets"], keyed("aescbc", "a"))), reloads=True)
        await turns()
        plugin.may_answer.clear()
        put(path, configuration(rule(["secrets"], kms(plugin.endpoint))))
        clock.advance(60)
        assert await plugin.asked.get() == "Status"

        await encryption.close()
        await encryption.close()

        assert writer(encryption.transformer("", "secrets")) == b"k8s:enc:aescbc:v1:a"

    async def test_a_start_that_is_given_up_lets_go_of_the_plugin(self, start: Starter, plugin: KmsPlugin) -> None:
        plugin.may_answer.clear()
        starting = asyncio.ensure_future(start(configuration(rule(["secrets"], kms(plugin.endpoint)))))
        assert await plugin.asked.get() == "Status"

        starting.cancel()

        with pytest.raises(asyncio.CancelledError):
            await starting

    async def test_closing_during_a_reload_lets_readers_of_the_old_plugin_finish(
        self, start: Starter, path: Path, plugin: KmsPlugin
    ) -> None:
        content = configuration(rule(["secrets"], kms(plugin.endpoint)))
        stored = at_once((await start(content)).transformer("", "secrets").to_storage(b"value", CONTEXT))
        encryption = await start(content, reloads=True)
        plugin.asked = asyncio.Queue()
        plugin.may_answer.clear()
        reader = asyncio.ensure_future(encryption.transformer("", "secrets").from_storage(stored, CONTEXT))
        assert await plugin.asked.get() == "Decrypt"
        put(path, configuration(rule(["secrets"], keyed("aescbc", "a"))))
        reloading = asyncio.ensure_future(encryption.reload())
        await turns()

        reloading.cancel()
        closing = asyncio.ensure_future(encryption.close())
        await turns()
        plugin.may_answer.set()
        await closing

        assert (await reader).data == b"value"

    async def test_a_closed_server_asks_no_plugin(self, start: Starter, plugin: KmsPlugin) -> None:
        encryption = await start(configuration(rule(["secrets"], kms(plugin.endpoint))))
        other = await start(configuration(rule(["secrets"], kms(plugin.endpoint))))
        stored = at_once(other.transformer("", "secrets").to_storage(b"value", CONTEXT))

        await encryption.close()

        with pytest.raises(Unavailable):
            await encryption.transformer("", "secrets").from_storage(stored, CONTEXT)


async def test_neither_grpc_nor_nacl_is_imported_without_their_providers(path: Path) -> None:
    put(path, configuration(rule(["secrets"], keyed("aescbc", "a"), keyed("aesgcm", "a"))))
    program = (
        "import asyncio, pathlib, sys\n"
        "from aio_apiserver.base.clock import SystemClock\n"
        "from aio_apiserver.storage.encryption.service import Encryption\n"
        "asyncio.run(Encryption.start(pathlib.Path(sys.argv[1]), clock=SystemClock()))\n"
        "print(sorted({'grpc', 'nacl', 'google.protobuf'} & set(sys.modules)))\n"
    )

    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", program, str(path), stdout=asyncio.subprocess.PIPE
    )
    printed, _ = await process.communicate()

    assert printed == b"[]\n"


def put(path: Path, content: bytes | None) -> None:
    """Write the file again, or remove it."""
    if content is None:
        path.unlink()
    else:
        path.write_bytes(content)


async def turns() -> None:
    """Run the tasks that are ready, until they sleep again."""
    for _ in range(10):
        await asyncio.sleep(0)
