"""Query parameters: the options that they give, and their errors."""

import pytest

from aio_apiserver.apiserver.wire import parameters, urls
from aio_apiserver.registry.base.errors import BadRequest, Invalid
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.storage.interface import Preconditions, ResourceVersionMatch

MAPS = Kind(group="", plural="configmaps", kind="ConfigMap")


def selection(query: str) -> parameters.Selection:
    return parameters.selection(urls.parse(f"/?{query}")[1], MAPS)


def test_a_watch_without_a_beginning_begins_with_the_state() -> None:
    assert selection("watch=1").send_initial_events is True
    assert selection("watch=1&resourceVersion=0").send_initial_events is True
    assert selection("watch=1&resourceVersion=5").send_initial_events is None


def test_what_only_the_path_calls_a_watch_has_the_options_of_a_list() -> None:
    selected = selection("resourceVersion=0&continue=x")

    assert selected.send_initial_events is None
    with pytest.raises(Invalid, match="sendInitialEvents is forbidden for list"):
        selection("sendInitialEvents=true")


def test_a_list_that_is_called_a_watch_is_still_a_list() -> None:
    assert selection("watch=1").list_options().match is ResourceVersionMatch.UNSET


def test_storage_judges_a_continue_token_before_the_version() -> None:
    assert selection("continue=x&resourceVersion=none").list_options().resource_version
    with pytest.raises(BadRequest, match="invalid resource version"):
        selection("resourceVersion=none").list_options()


def test_of_two_numbers_that_are_none_the_seconds_are_told() -> None:
    with pytest.raises(BadRequest, match='parsing "b"'):
        selection("limit=a&timeoutSeconds=b")


def test_a_deletion_takes_its_preconditions_from_the_query() -> None:
    options = parameters.delete_options(urls.parse("/?uid=u&resourceVersion=7")[1])

    assert options.preconditions == Preconditions("u", "7")
    assert parameters.delete_options({}).preconditions is None
