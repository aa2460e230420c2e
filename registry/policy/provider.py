"""The policy group: its kinds."""

from registry.generic.provider import KindsProvider
from registry.policy.poddisruptionbudgets import PODDISRUPTIONBUDGETS

GROUP = "policy"

PROVIDER = KindsProvider(group=GROUP, kinds=(PODDISRUPTIONBUDGETS,))
