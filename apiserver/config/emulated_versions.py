"""Emulated versions: parses --emulated-version, the version of Kubernetes that the server reports.

It is the server's own minor, or one of the three before it. Pure. Must hold: error messages are kube-apiserver's.
"""

import re
from collections.abc import Sequence

from aio_apiserver.registry.base import timeline
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.base.timeline import Version

_COMPONENT = "kube"
_OLDER = 3
"""How many minors before its own a server can emulate."""
_VERSION = re.compile(r"v?(\d+)\.(\d+)(?:\.(\d+))?")


def parse(texts: Sequence[str], own: Version) -> Version:
    """The emulated version; the server's own without a flag. Raises ValueError."""
    stated: dict[str, str] = {}
    for text in texts:
        component, found, version = text.rpartition("=")
        component, version = component.strip() if found else _COMPONENT, version.strip()
        if component in stated:
            raise ValueError(f"duplicate version flag, {component}={stated[component]} and {component}={version}")
        if component != _COMPONENT:
            raise ValueError(f"component not registered: {component}")
        stated[component] = version
    return _checked(stated[_COMPONENT], own) if stated else own


def _checked(text: str, own: Version) -> Version:
    match = _VERSION.fullmatch(text)
    if match is None:
        raise ValueError(f"could not parse {quote(text)} as version")
    major, minor, patch = int(match[1]), int(match[2]), int(match[3] or 0)
    if patch:
        raise ValueError(f"patch version not allowed, got: {_COMPONENT}={major}.{minor}.{patch}")
    floor = (own[0], own[1] - _OLDER)
    if not floor <= (major, minor) <= own:
        oldest, newest = map(timeline.text_of, (floor, own))
        raise ValueError(f"emulation version {major}.{minor} is not between [{oldest}, {newest}.0]")
    return major, minor
