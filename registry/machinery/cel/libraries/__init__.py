"""Kubernetes' functions for expressions, a library a file; BASE are those of every environment."""

from aio_apiserver.registry.machinery.cel.environment import Library
from aio_apiserver.registry.machinery.cel.libraries import (
    addresses,
    authorization,
    formats,
    lists,
    quantities,
    regex,
    semver,
    sets,
    strings,
    urls,
)

BASE: tuple[Library, ...] = (
    strings.LIBRARY,
    lists.LIBRARY,
    sets.LIBRARY,
    regex.LIBRARY,
    urls.LIBRARY,
    quantities.LIBRARY,
    addresses.LIBRARY,
    formats.LIBRARY,
    semver.LIBRARY,
    authorization.LIBRARY,
)
