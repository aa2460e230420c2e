"""The coordination.k8s.io group: its kinds."""

from aio_apiserver.registry.coordination.leases import LEASES
from aio_apiserver.registry.generic.provider import KindsProvider

PROVIDER = KindsProvider(group="coordination.k8s.io", kinds=(LEASES,))
