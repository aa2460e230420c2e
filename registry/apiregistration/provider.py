"""The apiregistration.k8s.io group: its kinds."""

from registry.apiregistration.apiservices import APISERVICES
from registry.generic.provider import KindsProvider

GROUP = "apiregistration.k8s.io"

PROVIDER = KindsProvider(group=GROUP, kinds=(APISERVICES,))
