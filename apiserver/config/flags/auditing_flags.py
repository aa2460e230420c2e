"""auditing_flags: Flags of the audit: the policy, files and webhooks."""

from pathlib import Path
from typing import Annotated, Any

from aio_apiserver.apiserver.config.flags.flag_fields import AUDITING, FlagGroup, flag
from aio_apiserver.apiserver.config.flags.setting_types import (
    Count,
    Duration,
    FileCount,
    Positive,
    Rate,
    one_of,
)

AUDIT_FORMATS = ("legacy", "json")
AUDIT_MODES = ("batch", "blocking", "blocking-strict")
_AUDIT_MODE = (
    "Strategy for sending audit events. Blocking indicates sending events should block server responses, "
    "blocking-strict that a request fails when its first event cannot be sent. Batch causes the backend to buffer and "
    f"write events asynchronously. Known modes are {','.join(AUDIT_MODES)}."
)


def _buffer_size() -> Any:
    return flag(AUDITING, 10000, "The size of the buffer to store events before batching. Only used in batch mode.")


def _batch_size(default: int) -> Any:
    return flag(AUDITING, default, "The maximum size of a batch. Only used in batch mode.")


def _batch_wait(default: float) -> Any:
    return flag(AUDITING, default, "How long to wait before sending a batch that is not full. Only used in batch mode.")


def _throttle(default: bool) -> Any:
    return flag(AUDITING, default, "Whether batching throttling is enabled. Only used in batch mode.")


def _throttle_qps(default: float) -> Any:
    return flag(AUDITING, default, "Maximum average number of batches per second. Only used in batch mode.")


def _throttle_burst(default: int) -> Any:
    return flag(AUDITING, default, "Maximum number of batches at once after a rest. Only used in batch mode.")


def _truncates() -> Any:
    return flag(AUDITING, False, "Whether event and batch truncating is enabled.")


def _event_size() -> Any:
    return flag(
        AUDITING,
        102400,
        "Maximum size of an event. Of a bigger one the request and response are removed, and if that is not enough, "
        "it is discarded.",
    )


def _truncated_batch_size() -> Any:
    return flag(AUDITING, 10485760, "Maximum size of a batch; a bigger one is split.")


_NO_FORMAT = 'invalid audit log format {value}, allowed formats are "{listed}"'
_NO_LOG_MODE = 'invalid audit log mode {value}, allowed modes are "{listed}"'
_NO_WEBHOOK_MODE = 'invalid audit webhook mode {value}, allowed modes are "{listed}"'
_NO_GROUP_VERSION = 'invalid group version, allowed versions are ["{listed}"]'


class AuditingFlags(FlagGroup):
    """The group Auditing of --help."""

    audit_policy_file: Path | None = flag(
        AUDITING, None, "Path to the file that defines the audit policy configuration."
    )
    audit_log_path: Path | None = flag(
        AUDITING,
        None,
        "If set, all requests coming to the apiserver will be logged to this file. '-' means standard out.",
    )
    audit_log_format: Annotated[str, one_of(*AUDIT_FORMATS, words=_NO_FORMAT)] = flag(
        AUDITING,
        "json",
        'Format of saved audits. "legacy" indicates 1-line text format for each event. "json" indicates structured '
        "json format.",
    )
    audit_log_version: Annotated[str, one_of("audit.k8s.io/v1", words=_NO_GROUP_VERSION)] = flag(
        AUDITING, "audit.k8s.io/v1", "API group and version used for serializing audit events written to log."
    )
    audit_log_maxage: FileCount = flag(
        AUDITING,
        366,
        "The maximum number of days to retain old audit log files, by the timestamp in their names. 0 is no limit.",
    )
    audit_log_maxbackup: FileCount = flag(
        AUDITING, 100, "The maximum number of old audit log files to retain. 0 is no limit."
    )
    audit_log_maxsize: FileCount = flag(
        AUDITING,
        100,
        "The maximum size in megabytes of the audit log file before it gets rotated. 0 disables rotation.",
    )
    audit_log_compress: bool = flag(AUDITING, False, "If set, the rotated log files will be compressed using gzip.")
    audit_log_mode: Annotated[str, one_of(*AUDIT_MODES, words=_NO_LOG_MODE)] = flag(AUDITING, "blocking", _AUDIT_MODE)
    audit_log_batch_buffer_size: Positive = _buffer_size()
    audit_log_batch_max_size: Positive = _batch_size(1)
    audit_log_batch_max_wait: Duration = _batch_wait(0.0)
    audit_log_batch_throttle_enable: bool = _throttle(False)
    audit_log_batch_throttle_qps: Rate = _throttle_qps(0.0)
    audit_log_batch_throttle_burst: Count = _throttle_burst(0)
    audit_log_truncate_enabled: bool = _truncates()
    audit_log_truncate_max_event_size: Positive = _event_size()
    audit_log_truncate_max_batch_size: Positive = _truncated_batch_size()
    audit_webhook_config_file: Path | None = flag(
        AUDITING, None, "Path to a kubeconfig formatted file that defines the audit webhook configuration."
    )
    audit_webhook_version: Annotated[str, one_of("audit.k8s.io/v1", words=_NO_GROUP_VERSION)] = flag(
        AUDITING, "audit.k8s.io/v1", "API group and version used for serializing audit events written to webhook."
    )
    audit_webhook_initial_backoff: Duration = flag(
        AUDITING, 10.0, "The amount of time to wait before retrying the first failed request."
    )
    audit_webhook_mode: Annotated[str, one_of(*AUDIT_MODES, words=_NO_WEBHOOK_MODE)] = flag(
        AUDITING, "batch", _AUDIT_MODE
    )
    audit_webhook_batch_buffer_size: Positive = _buffer_size()
    audit_webhook_batch_max_size: Positive = _batch_size(400)
    audit_webhook_batch_max_wait: Duration = _batch_wait(30.0)
    audit_webhook_batch_throttle_enable: bool = _throttle(True)
    audit_webhook_batch_throttle_qps: Rate = _throttle_qps(10.0)
    audit_webhook_batch_throttle_burst: Count = _throttle_burst(15)
    audit_webhook_truncate_enabled: bool = _truncates()
    audit_webhook_truncate_max_event_size: Positive = _event_size()
    audit_webhook_truncate_max_batch_size: Positive = _truncated_batch_size()
