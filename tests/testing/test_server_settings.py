import pytest

from aio_apiserver import testing
from aio_apiserver.testing.arguments import IGNORED
from tests.testing import settings_source


def test_editors_see_every_flag_of_the_server() -> None:
    """On failure: python -m tests.testing.settings_source > testing/server_settings.py"""
    assert settings_source.TARGET.read_text() == settings_source.text()


def test_every_public_name_of_the_test_bench_can_be_imported() -> None:
    assert [name for name in testing.__all__ if getattr(testing, name, None) is None] == []


@pytest.mark.parametrize("name", IGNORED)
def test_a_flag_without_effect_in_a_test_is_refused(name: str) -> None:
    with pytest.raises(TypeError, match=f"{name} has no effect on a Server in a test: "):
        testing.Server(**{name: "json"})  # type: ignore[arg-type]
