"""Image pull policy: the default imagePullPolicy of a container, which follows from the name of its image.

A name is [domain/]path[:tag][@digest]. Pure.
"""

import re
from functools import cache

from aio_apiserver.registry.base.text_caches import remember_short

_ALWAYS = "Always"
_IF_NOT_PRESENT = "IfNotPresent"
_LATEST = "latest"

_PART = r"[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*"
_LABEL = r"(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])"
_DOMAIN = rf"(?:{_LABEL}(?:\.{_LABEL})*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?"
_DIGEST = r"[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}"
_IDENTIFIER = re.compile(r"[a-f0-9]{64}")
_PATH_LIMIT = 255
_DEFAULT_DOMAINS = ("", "docker.io", "index.docker.io")
_OFFICIAL = "library"


@cache
def _name() -> re.Pattern[str]:
    """The grammar of a name, compiled for the first pod."""
    return re.compile(
        rf"(?:(?P<domain>{_DOMAIN})/)?(?P<path>{_PART}(?:/{_PART})*)(?::(?P<tag>\w[\w.-]{{0,127}}))?(?:@(?P<digest>{_DIGEST}))?",
        re.ASCII,
    )


def _full_path(match: re.Match[str]) -> str:
    """The path after normalization. A first part that does not look like a domain belongs to the path."""
    domain, path = match["domain"] or "", match["path"]
    if domain in _DEFAULT_DOMAINS:
        return path if "/" in path else f"{_OFFICIAL}/{path}"
    is_domain = domain == "localhost" or "." in domain or ":" in domain or domain != domain.lower()
    return path if is_domain else f"{domain}/{path}"


@remember_short(4096, longest=512)
def pull_policy(image: str) -> str:
    """The default policy: Always for the tag `latest` (also when tag and digest are missing), else IfNotPresent."""
    match = _name().fullmatch(image)
    if match is None or _IDENTIFIER.fullmatch(image) or len(_full_path(match)) > _PATH_LIMIT:
        return _IF_NOT_PRESENT
    is_latest = match["tag"] == _LATEST or (match["tag"] is None and match["digest"] is None)
    return _ALWAYS if is_latest else _IF_NOT_PRESENT
