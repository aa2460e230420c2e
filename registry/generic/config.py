"""Config: the values of kube-apiserver's flags that the registry needs.

Every field has a default, so that a registry can be made without flags. Knows no flag's syntax.
"""

from collections.abc import Mapping, Sequence
from ipaddress import IPv4Network, IPv6Network
from typing import Any

from msgspec import Struct, field

from aio_apiserver.registry.generic.enablement import Enablement


class Config(Struct, frozen=True, kw_only=True):
    """The defaults are kube-apiserver's.

    enabled_admission, disabled_admission: plugins by name, beside the defaults.
    event_ttl_seconds: the lifetime of events.
    deletes_unreadable: whether a client may delete an object that cannot be read.
    delete_collection_workers: how many objects of a collection are deleted at a time.
    admission_configuration: the configuration of each plugin by its name; the plugin parses it.
    enablement: the versions and resources that are served.
    simulates: whether a simulated cluster reads annotations.
    traces_admission: whether admission plugins note their decisions for the console's timeline.
    not_ready_toleration_seconds, unreachable_toleration_seconds: how long pods stay on such a node by default.
    """

    service_cluster_ip_ranges: Sequence[IPv4Network | IPv6Network] = (IPv4Network("10.0.0.0/24"),)
    service_node_ports: range = range(30000, 32768)
    allow_privileged: bool = False
    kubelet_port: int = 10250
    kubelet_address_types: Sequence[str] = ("Hostname", "InternalDNS", "InternalIP", "ExternalDNS", "ExternalIP")
    enabled_admission: Sequence[str] = ()
    disabled_admission: Sequence[str] = ()
    admission_configuration: Mapping[str, Any] = field(default_factory=dict)
    event_ttl_seconds: int = 3600
    deletes_unreadable: bool = False
    delete_collection_workers: int = 1
    not_ready_toleration_seconds: int = 300
    unreachable_toleration_seconds: int = 300
    enablement: Enablement = Enablement()
    simulates: bool = False
    traces_admission: bool = False
