"""misc_flags: Flags of logs, kubelets, services and aggregation."""

from ipaddress import IPv4Network
from pathlib import Path
from typing import Annotated

from aio_apiserver.apiserver.config.flags.flag_fields import FEATURES, LOGS, MISC, TRACES, FlagGroup, flag
from aio_apiserver.apiserver.config.flags.setting_types import (
    Duration,
    Level,
    Modules,
    Networks,
    Port,
    Ports,
    Strings,
    one_of,
)

_NO_FORMAT = 'format: Invalid value: "{value}": Unsupported log format'


class MiscFlags(FlagGroup):
    """The group Misc of --help."""

    profiling: bool = flag(FEATURES, True, "Enable profiling via web interface host:port/debug/pprof/.")
    logging_format: Annotated[str, one_of("text", "json", words=_NO_FORMAT)] = flag(
        LOGS, "text", "Sets the log format. Permitted formats: json, text."
    )
    v: Level = flag(LOGS, 0, "number for the log level verbosity", shorthand="v")
    vmodule: Modules = flag(
        LOGS,
        (),
        "comma-separated list of pattern=N settings for file-filtered logging: the verbosity of modules by their names "
        "(httplog=3, watch*=4)",
    )
    tracing_config_file: Path | None = flag(
        TRACES, None, "File with apiserver tracing configuration. It needs the extra aio-apiserver[tracing]."
    )
    enable_aggregator_routing: bool = flag(
        MISC,
        False,
        "Turns on aggregator routing requests to endpoints IP rather than cluster IP, as is "
        "needed where cluster IPs are not routed.",
    )
    aggregator_reject_forwarding_redirect: bool = flag(
        MISC, True, "Aggregator reject forwarding redirect response back to client."
    )
    allow_privileged: bool = flag(MISC, False, "If true, allow privileged containers.")
    kubelet_certificate_authority: Path | None = flag(
        MISC, None, "Path to a cert file for the certificate authority. Without it kubelets are not verified."
    )
    kubelet_client_certificate: Path | None = flag(MISC, None, "Path to a client cert file for TLS.")
    kubelet_client_key: Path | None = flag(MISC, None, "Path to a client key file for TLS.")
    kubelet_port: Port = flag(MISC, 10250, "The port of kubelets whose nodes do not say it.")
    kubelet_preferred_address_types: Strings = flag(
        MISC,
        ("Hostname", "InternalDNS", "InternalIP", "ExternalDNS", "ExternalIP"),
        "List of the preferred NodeAddressTypes to use for kubelet connections.",
    )
    kubelet_timeout: Duration = flag(MISC, 5.0, "Timeout for kubelet operations.")
    service_cluster_ip_range: Networks = flag(
        MISC,
        (IPv4Network("10.0.0.0/24"),),
        "A CIDR notation IP range from which to assign service cluster IPs. Max of two dual-stack CIDRs is allowed.",
    )
    service_node_port_range: Ports = flag(
        MISC,
        "30000-32767",
        "A port range to reserve for services with NodePort visibility. Inclusive at both ends of the range.",
    )
