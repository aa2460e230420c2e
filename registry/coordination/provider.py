"""The coordination.k8s.io group: its kinds."""

from registry.coordination.leases import LEASES
from registry.generic.provider import KindsProvider

PROVIDER = KindsProvider(group="coordination.k8s.io", kinds=(LEASES,))
