"""Assembly: builds the auditor of the flags: the policy from its file, and the backends."""

import logging
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from aio_apiserver.apiserver.auditing.auditor import Auditor
from aio_apiserver.apiserver.auditing.backends import Backend, FailureReports, Lenient, Truncating, Union
from aio_apiserver.apiserver.auditing.buffered import Batching, Buffered
from aio_apiserver.apiserver.auditing.log_backend import Log
from aio_apiserver.apiserver.auditing.log_files import LogFile, Output, Rotation, SharedLogFile, StandardOutput
from aio_apiserver.apiserver.auditing.webhook_backend import AuditWebhook
from aio_apiserver.apiserver.config.settings import Settings
from aio_apiserver.apiserver.metrics.audit import AuditMetrics
from aio_apiserver.apiserver.outgoing.webhooks import Post, WebhookClient
from aio_apiserver.base.clock import Clock
from aio_apiserver.registry.base import schemes
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.base.timeline import Version
from aio_apiserver.registry.generic.audit import lines, policy_files
from aio_apiserver.registry.generic.audit.policy import Policy
from aio_apiserver.storage.encryption import strict_yaml

logger = logging.getLogger(__name__)

_STDOUT = Path("-")
_API_VERSION = "audit.k8s.io/v1"
_KIND = "Policy"
_MEGABYTE = 1024 * 1024


def open_audit(
    settings: Settings, clock: Clock, webhooks: WebhookClient, metrics: AuditMetrics, stack: AsyncExitStack
) -> Auditor | None:
    """The auditor; None without a policy or a backend. Raises OSError, ValueError."""
    if settings.audit_policy_file is None:
        return None
    policy = _policy(settings.audit_policy_file, settings.minor.version)
    backends = list(_backends(settings, clock.patience, webhooks, FailureReports(metrics)))
    if not backends:
        return None
    backend: Backend = Union(backends)
    stack.push_async_callback(backend.close)
    return Auditor(policy, backend, metrics, clock)


def _policy(path: Path, version: Version) -> Policy:
    """The policy in a file. Raises ValueError."""
    try:
        data = path.read_bytes()
    except OSError as exc:
        why = f"open {path}: {(exc.strerror or str(exc)).lower()}"
        raise ValueError(f"loading audit policy file: failed to read file path {quote(str(path))}: {why}") from exc
    try:
        return _read(data, version)
    except ValueError as exc:
        raise ValueError(f"loading audit policy file: {exc}: from file {path}") from exc


def _read(data: bytes, version: Version) -> Policy:
    """Parse a policy. Raises ValueError."""
    try:
        document = strict_yaml.load(data)
    except ValueError as exc:
        raise ValueError(f"failed decoding: {exc}") from exc
    _check_kind(document, version)
    policy = policy_files.read(document)
    if unknown := [f"unknown field {quote(name)}" for name in policy_files.unknown_fields(document)]:
        why = f"strict decoding error: {', '.join(unknown)}"
        logger.warning("Audit policy contains errors, falling back to lenient decoding: %s", why)
    return policy


def _check_kind(document: Any, minor: Version) -> None:
    if not isinstance(document, dict) or not document.get("kind"):
        raise ValueError("failed decoding: Object 'Kind' is missing")
    if not document.get("apiVersion"):
        raise ValueError("failed decoding: Object 'apiVersion' is missing")
    kind, version = str(document["kind"]), str(document["apiVersion"])
    if (kind, version) != (_KIND, _API_VERSION):
        why = schemes.not_registered(kind, version, schemes.place_of(schemes.AUDIT_POLICIES, minor))
        raise ValueError(f"failed decoding: {why}")


def _backends(settings: Settings, clock: Clock, webhooks: WebhookClient, troubles: FailureReports) -> Iterator[Backend]:
    if settings.audit_log_path is not None:
        yield _log(settings, clock, troubles)
    if settings.audit_webhook_config_file is not None:
        webhook = webhooks.read(settings.audit_webhook_config_file)
        post = webhooks.poster(webhook, first_pause=settings.audit_webhook_initial_backoff)
        yield _webhook(settings, post, clock, troubles)


def _log(settings: Settings, clock: Clock, troubles: FailureReports) -> Backend:
    assert settings.audit_log_path is not None
    output: Output = StandardOutput()
    if settings.audit_log_path != _STDOUT:
        rotation = Rotation(
            most_bytes=settings.audit_log_maxsize * _MEGABYTE,
            most_days=settings.audit_log_maxage,
            most_files=settings.audit_log_maxbackup,
            compresses=settings.audit_log_compress,
        )
        open_file = LogFile if settings.workers == 1 else SharedLogFile
        output = open_file(settings.audit_log_path, rotation, clock)
    log = Log(output, lines.FORMATS[settings.audit_log_format], troubles)
    throttles = settings.audit_log_batch_throttle_enable
    batching = Batching(
        most_waiting=settings.audit_log_batch_buffer_size,
        most=settings.audit_log_batch_max_size,
        most_seconds=settings.audit_log_batch_max_wait,
        per_second=settings.audit_log_batch_throttle_qps if throttles else 0.0,
        burst=settings.audit_log_batch_throttle_burst,
    )
    backend = _in_mode(log, settings.audit_log_mode, batching, clock, troubles)
    if not settings.audit_log_truncate_enabled:
        return backend
    sizes = settings.audit_log_truncate_max_event_size, settings.audit_log_truncate_max_batch_size
    return Truncating(backend, troubles, most_of_event=sizes[0], most_of_batch=sizes[1])


def _webhook(settings: Settings, post: Post, clock: Clock, troubles: FailureReports) -> Backend:
    throttles = settings.audit_webhook_batch_throttle_enable
    batching = Batching(
        most_waiting=settings.audit_webhook_batch_buffer_size,
        most=settings.audit_webhook_batch_max_size,
        most_seconds=settings.audit_webhook_batch_max_wait,
        per_second=settings.audit_webhook_batch_throttle_qps if throttles else 0.0,
        burst=settings.audit_webhook_batch_throttle_burst,
        is_parallel=True,
    )
    webhook = AuditWebhook(post, troubles)
    backend = _in_mode(webhook, settings.audit_webhook_mode, batching, clock, troubles)
    if not settings.audit_webhook_truncate_enabled:
        return backend
    sizes = settings.audit_webhook_truncate_max_event_size, settings.audit_webhook_truncate_max_batch_size
    return Truncating(backend, troubles, most_of_event=sizes[0], most_of_batch=sizes[1])


def _in_mode(backend: Backend, mode: str, batching: Batching, clock: Clock, troubles: FailureReports) -> Backend:
    match mode:
        case "blocking-strict":
            return backend
        case "blocking":
            return Lenient(backend)
    return Buffered(backend, batching, clock, troubles)
