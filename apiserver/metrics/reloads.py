"""Reloads: metrics of reloaded configuration files: counts, times, and the hash of the present configuration.

Must hold: a configuration is published as a hash, not as text.
"""

import base64
import hashlib
import platform
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from aio_apiserver.apiserver.metrics import metric_families
from aio_apiserver.apiserver.metrics.metric_families import AnyFamily, Family, Stability
from aio_apiserver.base.clock import Clock
from aio_apiserver.base.measures import Counter, Gauge

_SERVER = "apiserver_id_hash"


class ConfigurationMetrics:
    """The counts of one configuration (such as `authentication`) of one server."""

    def __init__(self, part: str, clock: Clock, stability: Stability = Stability.BETA) -> None:
        self._clock = clock
        self._server = identity_hash()
        name = f"apiserver_{part}_config_controller"
        self._reloads: Family[Counter] = metric_families.counter(
            f"{name}_automatic_reloads_total",
            f"Reloads of the {part} configuration, by status and server.",
            labels=("status", _SERVER),
            stability=stability,
        )
        self._last: Family[Gauge] = metric_families.gauge(
            f"{name}_automatic_reload_last_timestamp_seconds",
            f"When the {part} configuration was reloaded last, by status and server.",
            labels=("status", _SERVER),
            stability=stability,
        )
        self._part = part
        self._in_force = ""

    def families(self) -> Iterable[AnyFamily]:
        """All families of this module."""
        yield from (self._reloads, self._last)
        if self._in_force:
            information = metric_families.gauge(
                f"apiserver_{self._part}_config_controller_last_config_info",
                f"The {self._part} configuration in force by its hash, by server.",
                labels=(_SERVER, "hash"),
            )
            information.of(self._server, self._in_force).set(1)
            yield information

    def in_force(self, content: bytes) -> None:
        """A configuration is in use."""
        self._in_force = hash_of(content)

    def reloaded(self, content: bytes | None) -> None:
        """A configuration was reloaded; None when the reload failed."""
        status = "failure" if content is None else "success"
        self._reloads.of(status, self._server).add()
        self._last.of(status, self._server).set(self._clock.now())
        if content is not None:
            self.in_force(content)

    def from_statistics(self, statistics: Mapping[str, Any]) -> Iterable[AnyFamily]:
        """The same for a component that keeps its own statistics."""
        for status, count in statistics.get("reloads", {}).items():
            self._reloads.of(status, self._server).value = count
        for status, moment in statistics.get("last_reload", {}).items():
            self._last.of(status, self._server).set(moment)
        self._in_force = statistics.get("config_hash", "")
        return self.families()


def of_encryption(statistics: Callable[[], Mapping[str, Any]], clock: Clock) -> Callable[[], Iterator[AnyFamily]]:
    """The families of encryption at rest, from the statistics of a StorageFactory."""
    metrics = ConfigurationMetrics("encryption", clock, Stability.ALPHA)

    def families() -> Iterator[AnyFamily]:
        yield from metrics.from_statistics(statistics().get("encryption") or {})

    return families


def hash_of(content: bytes) -> str:
    """The published hash of a content."""
    return f"sha256:{hashlib.sha256(content).hexdigest()}" if content else ""


def identity_hash() -> str:
    """The hash of this server's identity, which kube-apiserver makes from its host name."""
    words = (platform.node().encode(), b"kube-apiserver")
    hashed = hashlib.sha256(b"".join(len(word).to_bytes(2, "big") + word for word in words)).digest()
    identity = f"apiserver-{base64.b32encode(hashed[:16]).decode().rstrip('=').lower()}"
    return hash_of(identity.encode())
