"""Provider: the kinds of the group discovery.k8s.io."""

from aio_apiserver.registry.generic.group import APIGroup
from aio_apiserver.registry.generic.store.provider import KindsProvider
from aio_apiserver.registry.groups.discovery.endpointslices import ENDPOINTSLICES

PROVIDER = KindsProvider(group=APIGroup(name="discovery.k8s.io", priority=16200), kinds=(ENDPOINTSLICES,))
