"""generic_flags: kube-apiserver's generic flags: addresses, limits of requests, feature gates, versions."""

from aio_apiserver.apiserver.config.flags.flag_fields import GENERIC, FlagGroup, flag
from aio_apiserver.apiserver.config.flags.setting_types import (
    Address,
    Count,
    Duration,
    Strings,
)

BETA_VERSIONS = "{beta-versions}"
"""Stands in a help text for the versions that only --runtime-config enables; the groups that have them load late."""


class GenericFlags(FlagGroup):
    """The group Generic of --help."""

    advertise_address: Address = flag(
        GENERIC,
        "",
        "The IP address on which to advertise the apiserver to members of the cluster. If blank, --bind-address is "
        "used, and if that is unspecified too, 127.0.0.1.",
    )
    external_hostname: str = flag(
        GENERIC, "", "The host name to use when generating URLs for this server; the serving certificate has it."
    )
    max_requests_inflight: Count = flag(
        GENERIC, 400, "The maximum number of non-mutating requests in flight; 0 is no limit."
    )
    max_mutating_requests_inflight: Count = flag(
        GENERIC, 200, "The maximum number of mutating requests in flight; 0 is no limit."
    )
    request_timeout: Duration = flag(
        GENERIC, 60.0, "How long a request may take that is not long-running; a client's shorter timeout counts."
    )
    emulated_version: Strings = flag(
        GENERIC,
        (),
        "The version that /version, the metrics and the feature gates tell of: major.minor, or kube=major.minor, from "
        "three minors before --kubernetes-version on. Feature gates are as in that version; all else that is served "
        "stays that of --kubernetes-version.",
    )
    feature_gates: Strings = flag(
        GENERIC,
        (),
        "A set of key=value pairs that describe feature gates for alpha/experimental features. All gates of the "
        "version are known, checked and shown in metrics. A warning names those without an effect on this server.",
    )
    runtime_config: Strings = flag(
        GENERIC,
        (),
        "A set of key=value pairs that enable or disable built-in APIs: <group>/<version>=true|false, "
        "<group>/<version>/<resource>=true|false, and api/all, api/ga, api/beta, api/alpha=true|false for all versions "
        f"of a kind. Beta versions that can be enabled: {BETA_VERSIONS}.",
    )
    enable_priority_and_fairness: bool = flag(
        GENERIC,
        True,
        "If true, replace the max-in-flight handler with an enhanced one that queues and dispatches with priority and "
        "fairness: its seats are the sum of --max-requests-inflight and --max-mutating-requests-inflight.",
    )
    min_request_timeout: Count = flag(
        GENERIC,
        1800,
        "The minimum number of seconds a watch is kept open that does not say how long: it ends after one to two times "
        "this long, so that clients spread over restarted servers.",
    )
    livez_grace_period: Duration = flag(
        GENERIC,
        0.0,
        "How long after the start of the process /livez passes although the steps of the start are not complete, as "
        "while etcd does not answer.",
    )
    shutdown_delay_duration: Duration = flag(
        GENERIC,
        0.0,
        "How long to go on serving after a signal to stop, while /readyz already fails, so that load balancers notice.",
    )
    shutdown_watch_termination_grace_period: Duration = flag(
        GENERIC,
        0.0,
        "The time over which open watches end after --shutdown-delay-duration, so that their clients do not all begin "
        "new watches on another server at once. 0 ends all at once.",
    )
