"""tracing_config: the file of --tracing-config-file, a TracingConfiguration of apiserver.config.k8s.io.

Must hold: kube-apiserver refuses the same files.
"""

from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

import pydantic

from aio_apiserver.apiserver.config import config_files
from aio_apiserver.registry.base.golang.quoting import quote

_KIND = "TracingConfiguration"
_VERSIONS = ("v1", "v1beta1", "v1alpha1")
_DEFAULT_ENDPOINT = "localhost:4317"
_SCHEMES = frozenset({"dns", "unix", "unix-abstract"})
_MILLION = 1_000_000
_INTEGERS = 2**31 - 1


def _check_rate(value: int) -> int:
    if value < 0:
        raise ValueError(f"Invalid value: {value}: sampling rate must be positive")
    if value > _MILLION:
        raise ValueError(f"Invalid value: {value}: sampling rate per million must be less than or equal to one million")
    return value


def _check_endpoint(value: str) -> str:
    named = value if "//" in value else f"dns://{value}"
    scheme = urlsplit(named).scheme
    if scheme not in _SCHEMES:
        raise ValueError(
            f"Invalid value: {quote(named)}: unsupported scheme: {scheme}.  Options are none, dns, unix, or "
            "unix-abstract.  See https://github.com/grpc/grpc/blob/master/doc/naming.md"
        )
    return value


class TracingConfiguration(config_files.Model):
    """The content of the file. The connection to the collector is gRPC without TLS, as in kube-apiserver."""

    endpoint: Annotated[str, pydantic.AfterValidator(_check_endpoint)] = _DEFAULT_ENDPOINT
    sampling_rate_per_million: Annotated[
        int, pydantic.Field(strict=True, ge=-_INTEGERS - 1, le=_INTEGERS), pydantic.AfterValidator(_check_rate)
    ] = 0


def read(path: Path) -> TracingConfiguration:
    """The configuration. Raises ValueError."""
    try:
        data = path.read_bytes()
    except FileNotFoundError as exc:
        raise ValueError(f"tracing-config-file {path} does not exist") from exc
    except OSError as exc:
        raise ValueError(f"failed to read tracing config: {path}: {exc.strerror}") from exc
    try:
        return config_files.load(data, path, TracingConfiguration, kind=_KIND, versions=_VERSIONS)
    except ValueError as exc:
        raise ValueError(f"failed to read tracing config: {exc}") from exc
