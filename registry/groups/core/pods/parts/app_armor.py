"""App armor: the old annotations for AppArmor profiles of containers, which are fields today. Pure."""

from collections.abc import Mapping

PREFIX = "container.apparmor.security.beta.kubernetes.io/"
"""The prefix of the annotation; the name of the container follows it."""
LOCAL = "localhost/"
"""The prefix of a profile that is loaded on the node."""
DEPRECATED = 'deprecated since v1.30; use the "appArmorProfile" field instead'

_LONGEST = 4095

TYPES: Mapping[str, str] = {"unconfined": "Unconfined", "runtime/default": "RuntimeDefault"}
"""The types of profiles by their values in annotations."""


def profile_of(annotation: str) -> Mapping[str, str] | None:
    """The `appArmorProfile` that equals an annotation; None for an invalid annotation."""
    if annotation in TYPES:
        return {"type": TYPES[annotation]}
    name = annotation.removeprefix(LOCAL)
    if annotation.startswith(LOCAL) and name and name == name.strip() and len(name.encode()) <= _LONGEST:
        return {"type": "Localhost", "localhostProfile": name}
    return None
