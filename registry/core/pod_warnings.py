"""What clients should hear of pods, and of templates of pods, that are accepted. Pure."""

from collections.abc import Mapping
from typing import Any

from registry.validation import names

_NAMED_IN_HOSTNAMES = "which can result in surprising behavior; a DNS label is recommended: [{}]"


def template_warnings(
    template: Mapping[str, Any] | None, path: str, *, old: Mapping[str, Any] | None = None
) -> list[str]:
    """The warnings for a template that stands at a path; `old` is the template that it replaces."""
    return []


def warn_of_name(name: str, use: str) -> list[str]:
    """Names that pods take their own from had better be DNS labels."""
    messages = " ".join(names.is_dns_label(name, False))
    return [f"metadata.name: this is used in {use}, {_NAMED_IN_HOSTNAMES.format(messages)}"] if messages else []
