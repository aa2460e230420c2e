"""The node.k8s.io group: its kinds."""

from registry.generic.provider import KindsProvider
from registry.node.runtimeclasses import RUNTIMECLASSES

GROUP = "node.k8s.io"

PROVIDER = KindsProvider(group=GROUP, kinds=(RUNTIMECLASSES,))
