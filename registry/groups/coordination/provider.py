"""The coordination.k8s.io group: its kinds."""

from aio_apiserver.registry.generic.store.provider import KindsProvider
from aio_apiserver.registry.groups.coordination.leases import LEASES

PROVIDER = KindsProvider(group="coordination.k8s.io", kinds=(LEASES,))
