"""Tokens: metrics of service account tokens: valid ones, and ones that should be replaced."""

from collections.abc import Iterable, Mapping

from aio_apiserver.apiserver.metrics import metric_families
from aio_apiserver.apiserver.metrics.metric_families import Family
from aio_apiserver.base.measures import Counter
from aio_apiserver.registry.plugins.authentication import legacy_tokens, service_account_tokens


class TokenMetrics:
    """The counts of one server."""

    def __init__(self) -> None:
        self._valid = metric_families.counter(
            "serviceaccount_valid_tokens_total", "Uses of tokens that are as they should be."
        )
        self._stale = metric_families.counter(
            "serviceaccount_stale_tokens_total", "Uses of tokens that should have been replaced."
        )
        self._legacy = metric_families.counter(
            "serviceaccount_legacy_tokens_total", "Uses of tokens that stand in secrets."
        )
        self._generated = metric_families.counter(
            "serviceaccount_legacy_auto_token_uses_total", "Uses of tokens in secrets that a controller has made."
        )
        self._manual = metric_families.counter(
            "serviceaccount_legacy_manual_token_uses_total", "Uses of tokens in secrets that people have made."
        )

    def families(self) -> Iterable[Family[Counter]]:
        """All families of this module."""
        return self._valid, self._stale, self._legacy, self._generated, self._manual

    def accepted(self, annotations: Mapping[str, str]) -> None:
        """A valid token was used. The audit annotations tell its kind."""
        if legacy_tokens.OF_GENERATED in annotations or legacy_tokens.OF_MANUAL in annotations:
            self._legacy.of().add()
            (self._generated if legacy_tokens.OF_GENERATED in annotations else self._manual).of().add()
        elif service_account_tokens.STALE in annotations:
            self._stale.of().add()
        else:
            self._valid.of().add()
