"""AppArmor profiles as annotations of a pod once told them, one a container. Pure."""

from collections.abc import Mapping

PREFIX = "container.apparmor.security.beta.kubernetes.io/"
"""Before the name of the container."""
LOCAL = "localhost/"
"""Before the name of a profile of the node."""
DEPRECATED = 'deprecated since v1.30; use the "appArmorProfile" field instead'

_LONGEST = 4095

TYPES: Mapping[str, str] = {"unconfined": "Unconfined", "runtime/default": "RuntimeDefault"}
"""The types of profiles, by their words in annotations."""


def profile_of(annotation: str) -> Mapping[str, str] | None:
    """The field that says the same; None when there is none."""
    if annotation in TYPES:
        return {"type": TYPES[annotation]}
    name = annotation.removeprefix(LOCAL)
    if annotation.startswith(LOCAL) and name and name == name.strip() and len(name.encode()) <= _LONGEST:
        return {"type": "Localhost", "localhostProfile": name}
    return None
