"""The scheduling.k8s.io group: its kinds."""

from registry.generic.provider import KindsProvider
from registry.scheduling.priorityclasses import PRIORITYCLASSES

GROUP = "scheduling.k8s.io"

KINDS = (PRIORITYCLASSES,)

PROVIDER = KindsProvider(group=GROUP, kinds=KINDS)
