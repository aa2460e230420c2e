"""What amounts are where kube-apiserver counts them in 64 bits."""

import pytest

from aio_apiserver.registry.base.golang import quantity
from aio_apiserver.registry.base.validation import counted_amounts


@pytest.mark.parametrize(
    ("text", "whole", "thousandths"),
    [
        ("1", 1, 1000),
        ("500m", 1, 500),
        ("-500m", -1, -500),
        ("1u", 1, 1),
        ("1.5Gi", 1610612736, 1610612736000),
        ("0.5Ki", 512, 512000),
        ("-1.5Ki", -1536, -1536000),
        ("9223372036854775807", 9223372036854775807, -1000),
        ("9223372036854775808", -9223372036854775808, 0),
        ("12345678901234567890", -6101065172474983726, 4807115922877858896),
        ("-12345678901234567890", -5097733591, -5097733592001),
        ("1E", 10**18, 0),
        ("10E", 0, 0),
        ("1.1Ei", 1268213655067531674, -4611686018427387904),
        ("8Ei", 9223372036854775807, -1000),
    ],
)
def test_what_does_not_fit_64_bits_loses_its_highest_ones(text: str, whole: int, thousandths: int) -> None:
    amount = quantity.parse(text)

    counted = counted_amounts.value(amount), counted_amounts.milli_value(amount)

    assert counted == (whole, thousandths)
