"""Provider: the kinds of the group networking.k8s.io."""

from aio_apiserver.registry.generic.group import APIGroup
from aio_apiserver.registry.generic.store.provider import KindsProvider
from aio_apiserver.registry.groups.networking.ingressclasses import INGRESSCLASSES
from aio_apiserver.registry.groups.networking.ingresses import INGRESSES
from aio_apiserver.registry.groups.networking.ipaddresses import IPADDRESSES
from aio_apiserver.registry.groups.networking.networkpolicies import NETWORKPOLICIES
from aio_apiserver.registry.groups.networking.servicecidrs import SERVICECIDRS

GROUP = "networking.k8s.io"

KINDS = (INGRESSCLASSES, INGRESSES, IPADDRESSES, NETWORKPOLICIES, SERVICECIDRS)

PROVIDER = KindsProvider(group=APIGroup(name=GROUP, priority=17200, versions={"v1": 15, "v1beta1": 12}), kinds=KINDS)
