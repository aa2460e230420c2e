from aio_apiserver.controllers import names
from aio_apiserver.controllers.catalog import CONTROLLERS


def test_every_name_has_its_controller() -> None:
    assert tuple(sorted(CONTROLLERS)) == names.ALL


def test_nothing_runs_unless_it_is_said() -> None:
    assert names.enabled(()) == []
    assert names.enabled(("job-controller",)) == ["job-controller"]


def test_a_star_is_everything_that_is_not_taken_away() -> None:
    assert names.enabled(("*",)) == list(names.ALL)
    assert "job-controller" not in names.enabled(("*", "-job-controller"))


def test_what_is_said_first_counts() -> None:
    assert names.enabled(("-job-controller", "job-controller")) == []


def test_a_name_must_be_known() -> None:
    assert names.unknown(("*", "-job-controller", "jobs", "-x")) == ["jobs", "-x"]
