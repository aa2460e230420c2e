"""Storage config: the storage's configuration, made from the settings. It opens nothing.

Must hold: gRPC is imported when there are etcd servers, and not before.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from aio_apiserver.apiserver.config.settings import Settings
from aio_apiserver.storage.factory import servers_overrides
from aio_apiserver.storage.factory.factory import StorageConfig

if TYPE_CHECKING:
    from aio_apiserver.storage.etcd_config import EtcdConfig


def config_of(settings: Settings, *, shared_at: Path | None = None, is_first: bool = True) -> StorageConfig:
    """The configuration of the StorageFactory.

    shared_at: the Unix socket for the embedded store of several workers, of which the first one owns the store. It
    compacts every store.
    """
    return StorageConfig(
        etcd=_etcd(settings) if settings.etcd_servers or settings.etcd_servers_overrides else None,
        data_dir=settings.data_dir if settings.backend == "sqlite" else None,
        prefix=settings.etcd_prefix,
        overrides=[servers_overrides.parse(text) for text in settings.etcd_servers_overrides],
        media_type=settings.storage_media_type,
        encryption_config=settings.encryption_provider_config,
        reloads_encryption_config=settings.encryption_provider_config_automatic_reload,
        watch_cache=settings.watch_cache,
        uncached=_without_cache(settings),
        compaction_interval=settings.etcd_compaction_interval if is_first else 0.0,
        size_interval=settings.etcd_db_metric_poll_interval,
        quota_bytes=settings.store_quota_bytes,
        lease_reuse_seconds=settings.lease_reuse_duration_seconds,
        shared_at=shared_at,
        owns_store=is_first,
    )


def _etcd(settings: Settings) -> "EtcdConfig":
    from aio_apiserver.storage.etcd_config import EtcdConfig, Tls

    tls = Tls(authority=settings.etcd_cafile, certificate=settings.etcd_certfile, key=settings.etcd_keyfile)
    return EtcdConfig(endpoints=settings.etcd_servers, tls=tls)


def _without_cache(settings: Settings) -> frozenset[tuple[str, str]]:
    """The resources whose watch cache has the size zero, as (group, resource)."""
    sizes = (setting.rpartition("#") for setting in settings.watch_cache_sizes)
    names = (resource.partition(".") for resource, _, size in sizes if int(size) == 0)
    return frozenset((group, resource) for resource, _, group in names)
