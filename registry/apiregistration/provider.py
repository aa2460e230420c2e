"""The apiregistration.k8s.io group: its kinds."""

from aio_apiserver.registry.apiregistration.apiservices import APISERVICES
from aio_apiserver.registry.generic.provider import KindsProvider

GROUP = "apiregistration.k8s.io"

PROVIDER = KindsProvider(group=GROUP, kinds=(APISERVICES,))
