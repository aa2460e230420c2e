"""The networking.k8s.io group: its kinds."""

from registry.generic.provider import KindsProvider
from registry.networking.ingressclasses import INGRESSCLASSES
from registry.networking.ingresses import INGRESSES
from registry.networking.ipaddresses import IPADDRESSES
from registry.networking.networkpolicies import NETWORKPOLICIES
from registry.networking.servicecidrs import SERVICECIDRS

GROUP = "networking.k8s.io"

KINDS = (INGRESSCLASSES, INGRESSES, IPADDRESSES, NETWORKPOLICIES, SERVICECIDRS)

PROVIDER = KindsProvider(group=GROUP, kinds=KINDS)
