"""The discovery.k8s.io group: its kinds."""

from aio_apiserver.registry.discovery.endpointslices import ENDPOINTSLICES
from aio_apiserver.registry.generic.provider import KindsProvider

PROVIDER = KindsProvider(group="discovery.k8s.io", kinds=(ENDPOINTSLICES,))
