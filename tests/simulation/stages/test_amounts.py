"""Delays and weights of Stages."""

from typing import Any

import pytest

from aio_apiserver.base.clock import ManualClock
from aio_apiserver.simulation.stages import amounts
from aio_apiserver.simulation.stages.cel import StageExpressions

NOW = 1_700_000_000.0
CEL = StageExpressions(ManualClock(NOW), lambda: 0.25)
OBJ: dict[str, Any] = {
    "metadata": {
        "creationTimestamp": "2023-11-14T22:12:50Z",
        "deletionTimestamp": "2023-11-14T22:13:30Z",
        "annotations": {
            "long": "1m30s",
            "part": "1.5s",
            "odd": "soon",
            "digits": "1" * 100_000,
            "none": "",
            "heavy": "7",
            "hex": "0x10",
        },
    }
}


def _from(name: str) -> dict[str, str]:
    return {"expressionFrom": f'.metadata.annotations["{name}"]'}


@pytest.mark.parametrize(
    ("given", "seconds"),
    [
        (None, 0.0),
        ({"durationMilliseconds": 1500}, 1.5),
        ({"durationMilliseconds": 1000, "jitterDurationMilliseconds": 3000}, 2.0),
        ({"durationMilliseconds": 3000, "jitterDurationMilliseconds": 1000}, 1.0),
        ({"durationMilliseconds": 1000, "durationFrom": _from("long")}, 90.0),
        ({"durationFrom": {"jq": {"expression": '.metadata.annotations["part"]'}}}, 1.5),
        ({"durationMilliseconds": 1000, "durationFrom": _from("missing")}, 1.0),
        ({"durationMilliseconds": 1000, "durationFrom": _from("odd")}, 1.0),
        ({"durationMilliseconds": 1000, "durationFrom": _from("digits")}, 1.0),
        ({"durationMilliseconds": 1000, "durationFrom": _from("none")}, 0.0),
        ({"durationFrom": {"cel": {"expression": "self.metadata.annotations.long"}}}, 90.0),
        ({"durationFrom": {"cel": {"expression": "duration('2s') + duration('500ms')"}}}, 2.5),
        ({"durationFrom": {"cel": {"expression": "1500000000"}}}, 1.5),
        ({"durationMilliseconds": 1000, "durationFrom": {"cel": {"expression": "self.missing"}}}, 1.0),
        ({"durationFrom": {"cel": {"expression": "duration(string(Rand() * 8.0) + 's')"}}}, 2.0),
        ({"durationFrom": {"cel": {"expression": "int((60.0 - self.SinceSecond()) * 1e9)"}}}, 30.0),
        ({"durationFrom": {"cel": {"expression": "timestamp(self.metadata.deletionTimestamp) - Now()"}}}, 10.0),
        ({"jitterDurationFrom": {"expressionFrom": ".metadata.deletionTimestamp"}}, 5.0),
    ],
)
def test_a_delay_is_between_its_two_durations(given: dict[str, Any] | None, seconds: float) -> None:
    assert amounts.delay(given, CEL).seconds(OBJ, NOW, lambda: 0.5) == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("spec", "weight"),
    [
        ({}, 0),
        ({"weight": 3}, 3),
        ({"weight": 3, "weightFrom": _from("heavy")}, 7),
        ({"weightFrom": _from("hex")}, 16),
        ({"weight": 3, "weightFrom": _from("missing")}, 3),
        ({"weight": 3, "weightFrom": _from("odd")}, None),
        ({"weightFrom": {"cel": {"expression": "size(self.metadata.annotations) + 1"}}}, 8),
        ({"weight": 3, "weightFrom": {"cel": {"expression": "self.missing"}}}, None),
        ({"weightFrom": {"cel": {"expression": "SinceSecond(self)"}}}, 30),
        ({"weightFrom": {"cel": {"expression": "Now().UnixSecond()"}}}, 1_700_000_000),
        (
            {"weightFrom": {"cel": {"expression": "UnixSecond(self.metadata.deletionTimestamp) - UnixSecond(Now())"}}},
            10,
        ),
        ({"weightFrom": {"cel": {"expression": "SinceSecond({'metadata': {}})"}}}, None),
        ({"weightFrom": {"cel": {"expression": "UnixSecond('noon')"}}}, None),
        ({"weightFrom": {"cel": {"expression": "Quantity('1Ki') > Quantity('1k') ? 1 : 2"}}}, 1),
        ({"weightFrom": {"cel": {"expression": "double((Quantity('3') - Quantity('500m')) * 4 / 2)"}}}, 5),
        ({"weightFrom": {"cel": {"expression": "double(-Quantity('1') + Quantity('2')) / 0.5"}}}, 2),
        ({"weightFrom": {"cel": {"expression": "double(Quantity('1') / 0)"}}}, None),
    ],
)
def test_a_weight_comes_from_the_object_or_from_the_stage(spec: dict[str, Any], weight: int | None) -> None:
    assert amounts.weight(spec, CEL)(OBJ) == weight


@pytest.mark.parametrize(
    ("weighed", "random", "chosen"),
    [
        ([], 0.0, None),
        ([("a", 0)], 0.9, "a"),
        ([("a", 1), ("b", 3)], 0.2, "a"),
        ([("a", 1), ("b", 3)], 0.3, "b"),
        ([("a", 0), ("b", 0)], 0.6, "b"),
        ([("a", None), ("b", 0)], 0.1, "b"),
        ([("a", None), ("b", None)], 0.1, "a"),
    ],
)
def test_a_stage_is_chosen_by_its_weight(
    weighed: list[tuple[str, int | None]], random: float, chosen: str | None
) -> None:
    assert amounts.choose(weighed, lambda: random) == chosen
