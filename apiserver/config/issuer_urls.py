"""Issuer URLs: checks the URL of a token issuer, in flags and in files. Pure."""

from collections.abc import Collection
from urllib.parse import urlsplit


def problem(url: str, *, own: Collection[str] = ()) -> str:
    """What is wrong with a URL; empty for a valid one. `own`: the issuers of this server itself."""
    if url in own:
        return f"URL must not overlap with disallowed issuers: [{' '.join(sorted(own))}]"
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError as exc:
        return str(exc)
    if parts.scheme != "https" or not host:
        return "URL scheme must be https"
    if parts.username is not None:
        return "URL must not contain a username or password"
    if parts.query:
        return "URL must not contain a query"
    return "URL must not contain a fragment" if parts.fragment else ""
