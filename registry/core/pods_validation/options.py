"""What the validation of a pod spec may let pass, though it is wrong, and what it is part of.

Rules become stricter with time. What an object broke before a rule came stays allowed while the object does: each
allowance says that the old spec already did so. Pure.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class PodOptions:
    """How strict to be.

    is_pod: the spec is that of a pod, not of a template; allows_privileged: containers may have all rights of the host.
    """

    is_pod: bool = False
    allows_privileged: bool = False


def options_for(
    old_spec: Mapping[str, Any] | None, *, is_pod: bool = False, allows_privileged: bool = False
) -> PodOptions:
    """The options for a spec that is new, or that replaces an old one."""
    return PodOptions(is_pod=is_pod, allows_privileged=allows_privileged)
