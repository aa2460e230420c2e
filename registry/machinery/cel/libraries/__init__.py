"""Libraries: Kubernetes' CEL functions, one library a file. PURE has those of every environment that compute without
the server."""

from aio_apiserver.registry.machinery.cel.environment import Library
from aio_apiserver.registry.machinery.cel.libraries import (
    addresses,
    formats,
    lists,
    quantities,
    regex,
    semver,
    sets,
    strings,
    urls,
)

PURE: tuple[Library, ...] = (
    strings.LIBRARY,
    lists.LIBRARY,
    sets.LIBRARY,
    regex.LIBRARY,
    urls.LIBRARY,
    quantities.LIBRARY,
    addresses.LIBRARY,
    formats.LIBRARY,
    semver.LIBRARY,
)
