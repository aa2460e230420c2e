"""etcd_flags: Flags of the store: etcd, the embedded store, encryption at rest and the watch cache."""

from pathlib import Path
from typing import Annotated

from aio_apiserver.apiserver.config.flags.flag_fields import ETCD, FlagGroup, flag
from aio_apiserver.apiserver.config.flags.setting_types import (
    CacheSizes,
    Count,
    Duration,
    Overrides,
    Positive,
    Strings,
    one_of,
)
from aio_apiserver.storage import codec, leases
from aio_apiserver.storage.store_limits import QUOTA_BYTES

STORAGE_BACKENDS = ("etcd3", "sqlite", "memory")
"""etcd; the embedded store in a file; the embedded store in memory, whose data ends with the process."""

_NO_BACKEND = "--{flag} invalid, allowed values: {allowed}"


class EtcdFlags(FlagGroup):
    """The group Etcd of --help."""

    etcd_servers: Strings = flag(
        ETCD,
        (),
        "List of etcd servers to connect with (scheme://ip:port), comma separated. Without any, the store is embedded.",
    )
    etcd_cafile: Path | None = flag(ETCD, None, "SSL Certificate Authority file used to secure etcd communication.")
    etcd_certfile: Path | None = flag(ETCD, None, "SSL certification file used to secure etcd communication.")
    etcd_keyfile: Path | None = flag(ETCD, None, "SSL key file used to secure etcd communication.")
    etcd_prefix: str = flag(ETCD, "/registry", "The prefix to prepend to all resource paths in etcd.")
    etcd_servers_overrides: Overrides = flag(
        ETCD,
        (),
        "Per-resource etcd servers overrides, comma separated. The individual override format: group/resource#servers, "
        "where servers are URLs, semicolon separated.",
    )
    etcd_compaction_interval: Duration = flag(
        ETCD, 300.0, "The interval of compaction requests. If 0, the compaction request from apiserver is disabled."
    )
    etcd_db_metric_poll_interval: Duration = flag(
        ETCD, 30.0, "The interval of requests to poll etcd and update metric. 0 disables the metric collection"
    )
    storage_backend: Annotated[str, one_of(*STORAGE_BACKENDS, words=_NO_BACKEND)] = flag(
        ETCD,
        "",
        f"The storage backend for persistence: {', '.join(STORAGE_BACKENDS)}.",
        shown="etcd3 with --etcd-servers, else sqlite",
    )
    storage_media_type: Annotated[str, one_of(*codec.MEDIA_TYPES)] = flag(
        ETCD,
        codec.MSGPACK.media_type,
        f"The media type to use to store objects in storage: {', '.join(codec.MEDIA_TYPES)}. All of them are read.",
    )
    store_quota_bytes: Count = flag(
        ETCD,
        QUOTA_BYTES,
        "The size of the embedded store beyond which writes are refused that need space, as etcd's "
        "--quota-backend-bytes. Reads, deletions and compaction go on. 0 is no limit.",
    )
    encryption_provider_config: Path | None = flag(
        ETCD,
        None,
        "The file containing configuration for encryption providers to be used for storing secrets in etcd.",
    )
    encryption_provider_config_automatic_reload: bool = flag(
        ETCD, False, "Whether the file of --encryption-provider-config is read again when it changes."
    )
    event_ttl: Duration = flag(ETCD, 3600.0, "Amount of time to retain events.")
    delete_collection_workers: int = flag(
        ETCD,
        1,
        "Number of workers spawned for DeleteCollection call. These are used to speed up namespace cleanup. "
        "With --simulate the default is 16.",
    )
    lease_reuse_duration_seconds: Positive = flag(
        ETCD, leases.REUSE_SECONDS, "The time in seconds that each lease is reused."
    )
    watch_cache: bool = flag(ETCD, True, "Enable watch caching in the apiserver.")
    watch_cache_sizes: CacheSizes = flag(
        ETCD,
        (),
        "Watch cache size settings for some resources (pods, nodes, etc.), comma separated. The individual setting "
        "format: resource[.group]#size. A size of zero disables watch caching for the resource; caches are sized "
        "automatically, so that every other size means the same.",
    )
