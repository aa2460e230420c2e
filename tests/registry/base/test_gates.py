import pytest

from aio_apiserver.registry.base import gates
from aio_apiserver.registry.base.gates import Gates


def test_gates_are_as_this_version_has_them() -> None:
    told = {one.name: one for one in Gates({}).all()}

    assert told["APIServerTracing"] == ("APIServerTracing", "", True)
    assert told["WatchList"] == ("WatchList", "BETA", True)
    assert told["APIServingWithRoutine"] == ("APIServingWithRoutine", "ALPHA", False)
    assert told["AllAlpha"] == ("AllAlpha", "ALPHA", False)


def test_an_emulated_version_has_the_gates_of_its_time() -> None:
    told = {one.name: one for one in Gates({}, (1, 33)).all()}

    assert told["WatchList"].is_open is False
    assert "SizeBasedListCostEstimate" not in told


def test_what_is_said_of_one_gate_counts_more_than_what_is_said_of_all() -> None:
    set_so = Gates({"APIServingWithRoutine": False, "AllAlpha": True})

    opened = {one.name for one in set_so.all() if one.stage == "ALPHA" and one.is_open}
    assert "APIServingWithRoutine" not in opened
    assert len(opened) > 20


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        (["Foo=true"], "unrecognized feature gate: Foo"),
        (["WatchList"], "missing bool value for WatchList"),
        (["WatchList=x"], 'invalid value of WatchList=x, err: strconv.ParseBool: parsing "x": invalid syntax'),
        (
            ["APIServerTracing=false"],
            "cannot set feature gate APIServerTracing to false, feature is locked to true",
        ),
        (["etcd:WatchList=true"], "component not registered: etcd"),
        (
            ["WatchList=true", "kube:WatchList=true"],
            "set kube feature gates with default empty prefix or kube: prefix consistently, do not mix use",
        ),
    ],
)
def test_what_cannot_be_is_refused_in_the_words_of_kube_apiserver(given: list[str], complaint: str) -> None:
    with pytest.raises(ValueError, match=r"^") as raised:
        Gates(gates.parse(given))

    assert str(raised.value) == complaint


def test_a_gate_that_is_newer_than_the_emulated_version_cannot_be_set() -> None:
    with pytest.raises(
        ValueError, match=r"feature is PreAlpha at emulated version 1\.33, min compatibility version 1\.32"
    ):
        Gates({"SizeBasedListCostEstimate": False}, (1, 33))


def test_gates_that_settings_change_are_named() -> None:
    settings = {"WatchList": False, "SizeBasedListCostEstimate": False, "APIServerIdentity": True}

    assert Gates(settings).changed == ["SizeBasedListCostEstimate", "WatchList"]


def test_all_alpha_changes_every_alpha_gate() -> None:
    changed = Gates({"AllAlpha": True}).changed

    assert "ContainerStopSignals" in changed
    assert "WatchList" not in changed
