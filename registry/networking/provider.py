"""The networking.k8s.io group: its kinds."""

from aio_apiserver.registry.generic.provider import KindsProvider
from aio_apiserver.registry.networking.ingressclasses import INGRESSCLASSES
from aio_apiserver.registry.networking.ingresses import INGRESSES
from aio_apiserver.registry.networking.ipaddresses import IPADDRESSES
from aio_apiserver.registry.networking.networkpolicies import NETWORKPOLICIES
from aio_apiserver.registry.networking.servicecidrs import SERVICECIDRS

GROUP = "networking.k8s.io"

KINDS = (INGRESSCLASSES, INGRESSES, IPADDRESSES, NETWORKPOLICIES, SERVICECIDRS)

PROVIDER = KindsProvider(group=GROUP, kinds=KINDS)
