import pytest

from aio_apiserver.apiserver.metrics.tokens import TokenMetrics
from aio_apiserver.registry.plugins.authentication.legacy_tokens import OF_GENERATED, OF_MANUAL
from aio_apiserver.registry.plugins.authentication.service_account_tokens import STALE


@pytest.mark.parametrize(
    ("annotations", "counted"),
    [
        ({}, {"valid_tokens_total"}),
        ({STALE: "x"}, {"stale_tokens_total"}),
        ({OF_MANUAL: "s"}, {"legacy_tokens_total", "legacy_manual_token_uses_total"}),
        ({OF_GENERATED: "s"}, {"legacy_tokens_total", "legacy_auto_token_uses_total"}),
    ],
)
def test_tokens_are_counted_by_what_should_become_of_them(annotations: dict[str, str], counted: set[str]) -> None:
    metrics = TokenMetrics()

    metrics.accepted(annotations)

    values = {family.name.removeprefix("serviceaccount_"): family.of().value for family in metrics.families()}
    assert {name for name, value in values.items() if value} == counted
