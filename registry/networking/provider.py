"""The networking.k8s.io group: its kinds."""

from registry.generic.provider import KindsProvider
from registry.kind import Kind
from registry.strategy import StatusStrategy, Strategy

GROUP = "networking.k8s.io"

KINDS = (
    Kind(
        group=GROUP,
        plural="ingressclasses",
        kind="IngressClass",
        is_namespaced=False,
        strategy=Strategy(has_generation=True),
    ),
    Kind(
        group=GROUP,
        plural="ingresses",
        kind="Ingress",
        short_names=("ing",),
        strategy=Strategy(has_status=True, has_generation=True),
        status_strategy=StatusStrategy(),
    ),
    Kind(
        group=GROUP,
        plural="ipaddresses",
        kind="IPAddress",
        is_namespaced=False,
        short_names=("ip",),
    ),
    Kind(
        group=GROUP,
        plural="networkpolicies",
        kind="NetworkPolicy",
        short_names=("netpol",),
        strategy=Strategy(has_generation=True),
    ),
    Kind(
        group=GROUP,
        plural="servicecidrs",
        kind="ServiceCIDR",
        is_namespaced=False,
        strategy=Strategy(has_status=True),
        status_strategy=StatusStrategy(),
    ),
)

PROVIDER = KindsProvider(group=GROUP, kinds=KINDS)
