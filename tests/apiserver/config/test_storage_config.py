from pathlib import Path
from typing import Any

from aio_apiserver.apiserver.config import storage_config
from aio_apiserver.apiserver.config.settings import Settings
from aio_apiserver.storage.factory.factory import StorageConfig


def config(**values: Any) -> StorageConfig:
    return storage_config.config_of(Settings(data_dir=Path("/data"), **values))


def test_the_store_is_embedded_by_default() -> None:
    chosen = config()

    assert (chosen.data_dir, chosen.etcd) == (Path("/data"), None)


def test_memory_keeps_no_directory() -> None:
    assert config(storage_backend="memory").data_dir is None


def test_etcd_is_reached_with_its_credentials() -> None:
    chosen = config(
        etcd_servers=("https://a:2379",),
        etcd_cafile=Path("ca"),
        etcd_certfile=Path("crt"),
        etcd_keyfile=Path("key"),
        etcd_prefix="/other",
    )

    assert chosen.etcd is not None
    assert chosen.etcd.endpoints == ("https://a:2379",)
    assert (chosen.etcd.tls.authority, chosen.etcd.tls.certificate, chosen.etcd.tls.key) == (
        Path("ca"),
        Path("crt"),
        Path("key"),
    )
    assert (chosen.data_dir, chosen.prefix) == (None, "/other")


def test_overrides_need_no_other_etcd() -> None:
    chosen = config(etcd_servers_overrides=("/events#http://b:2379;http://c:2379",))

    assert chosen.data_dir == Path("/data")
    assert [override.servers for override in chosen.overrides] == [("http://b:2379", "http://c:2379")]
    assert chosen.etcd is not None
    assert chosen.etcd.endpoints == ()


def test_a_cache_of_size_zero_is_none() -> None:
    chosen = config(watch_cache_sizes=("pods#0", "deployments.apps#0", "nodes#1000"))

    assert chosen.uncached == {("", "pods"), ("apps", "deployments")}
