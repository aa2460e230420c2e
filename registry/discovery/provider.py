"""The discovery.k8s.io group: its kinds."""

from registry.discovery.endpointslices import ENDPOINTSLICES
from registry.generic.provider import KindsProvider

PROVIDER = KindsProvider(group="discovery.k8s.io", kinds=(ENDPOINTSLICES,))
