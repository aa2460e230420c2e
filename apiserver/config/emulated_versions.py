"""Emulated versions: parses --emulated-version, the version of Kubernetes that the server reports.

Pure. Must hold: error messages are kube-apiserver's.
"""

import re
from collections.abc import Sequence

from aio_apiserver.registry.base.gates import NEWEST, OLDEST, Version
from aio_apiserver.registry.base.golang.quoting import quote

_COMPONENT = "kube"
_VERSION = re.compile(r"v?(\d+)\.(\d+)(?:\.(\d+))?")


def parse(texts: Sequence[str]) -> Version:
    """The emulated version; this server's own without a flag. Raises ValueError."""
    stated: dict[str, str] = {}
    for text in texts:
        component, found, version = text.rpartition("=")
        component, version = component.strip() if found else _COMPONENT, version.strip()
        if component in stated:
            raise ValueError(f"duplicate version flag, {component}={stated[component]} and {component}={version}")
        if component != _COMPONENT:
            raise ValueError(f"component not registered: {component}")
        stated[component] = version
    return _checked(stated[_COMPONENT]) if stated else NEWEST


def _checked(text: str) -> Version:
    match = _VERSION.fullmatch(text)
    if match is None:
        raise ValueError(f"could not parse {quote(text)} as version")
    major, minor, patch = int(match[1]), int(match[2]), int(match[3] or 0)
    if patch:
        raise ValueError(f"patch version not allowed, got: {_COMPONENT}={major}.{minor}.{patch}")
    if not OLDEST <= (major, minor) <= NEWEST:
        oldest, newest = (".".join(map(str, one)) for one in (OLDEST, NEWEST))
        raise ValueError(f"emulation version {major}.{minor} is not between [{oldest}, {newest}.0]")
    return major, minor
