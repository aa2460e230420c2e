"""Deprecations: the releases in which a version of a kind is deprecated and removed, and the warning about it. Pure."""

from msgspec import Struct

from aio_apiserver.registry.base.timeline import Version, text_of


class Deprecation(Struct, frozen=True):
    """The life of one version of a kind: deprecated `since` a minor, and not served from `removed` on.

    is_replaced: whether the warning names v1.
    """

    since: Version
    removed: Version
    is_replaced: bool = False

    @property
    def removed_release(self) -> str:
        """The release that has the version no more: 1.37."""
        return text_of(self.removed)

    def warning(self, group: str, version: str, kind: str) -> str:
        """The warning for clients."""
        life = f"is deprecated in v{text_of(self.since)}+, unavailable in v{self.removed_release}+"
        return f"{group}/{version} {kind} {life}{f'; use {group}/v1 {kind}' if self.is_replaced else ''}"
