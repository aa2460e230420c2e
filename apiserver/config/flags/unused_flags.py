"""Unused flags: flags of kube-apiserver v1.36 without an effect here. The server accepts them with a warning.

A flag leaves this table when settings.py gets a field for it.
"""

from collections.abc import Mapping

from aio_apiserver.apiserver.config.flags.flag_types import FlagType

_BOOLEANS = """
    contention-profiling disable-http2-serving emulation-forward-compatible
    enable-garbage-collector enable-logs-handler
    log-json-split-stream log-text-split-stream permit-address-sharing runtime-config-emulation-forward-compatible
    shutdown-send-retry-after
"""

_NUMBERS = """
    apiserver-count default-watch-cache-size http2-max-streams-per-connection kubelet-read-only-port
    kubernetes-service-node-port max-connection-bytes-per-sec
"""

_DURATIONS = """
    audit-webhook-batch-initial-backoff coordinated-leadership-lease-duration coordinated-leadership-renew-deadline
    coordinated-leadership-retry-period etcd-count-metric-poll-period
    etcd-healthcheck-timeout etcd-readycheck-timeout log-flush-frequency storage-initialization-timeout
"""

_WITH_VALUES = """
    admission-control allow-metric-labels allow-metric-labels-manifest
    cors-allowed-origins debug-socket-path
    disabled-metrics egress-selector-config-file endpoint-reconciler-type
    log-json-info-buffer-size log-text-info-buffer-size
    min-compatibility-version peer-advertise-ip peer-advertise-port peer-ca-file
    service-account-signing-endpoint
    show-hidden-metrics-for-version
    strict-transport-security-directives tls-curve-preferences tls-sni-cert-key
"""

UNUSED: Mapping[str, FlagType] = {
    **dict.fromkeys(_BOOLEANS.split(), FlagType.BOOL),
    **dict.fromkeys(_NUMBERS.split(), FlagType.INT),
    **dict.fromkeys(_DURATIONS.split(), FlagType.DURATION),
    "goaway-chance": FlagType.FLOAT,
    **dict.fromkeys(_WITH_VALUES.split(), FlagType.STRING),
}
