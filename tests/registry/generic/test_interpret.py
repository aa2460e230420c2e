"""The StatusErrors for storage's errors."""

import pytest

from aio_apiserver.registry.base import errors
from aio_apiserver.registry.base.names import GroupResource
from aio_apiserver.registry.generic.interpret import StorageCall, interpreted, operation_on
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.groups.core.events.events import EVENTS
from aio_apiserver.registry.groups.core.pods.pods import PODS
from aio_apiserver.storage.errors import FutureRevision, PreconditionFailed

UPDATE = StorageCall(GroupResource("example.com", "widgets"), "update", "a", "example.com/widgets")


@pytest.mark.parametrize(
    ("is_dry", "key"), [(False, "/registry/example.com/widgets/n/a"), (True, "/example.com/widgets/n/a")]
)
async def test_a_precondition_names_the_key_that_it_has_failed_for(is_dry: bool, key: str) -> None:
    async def write() -> None:
        raise PreconditionFailed("n/a", "Precondition failed", is_dry=is_dry)

    with pytest.raises(errors.Conflict) as caught:
        await interpreted(write(), UPDATE)

    assert f" Key: {key}, ResourceVersion: 0, " in caught.value.message


@pytest.mark.parametrize(("kind", "seconds"), [(PODS, 1), (EVENTS, 0)])
async def test_who_may_ask_again_for_a_version_is_told_when(kind: Kind, seconds: int) -> None:
    async def read() -> None:
        raise FutureRevision(9, 5)

    with pytest.raises(errors.TooLargeResourceVersion) as caught:
        await interpreted(read(), operation_on(kind, "list"))

    assert caught.value.retry_after_seconds == seconds
    assert ("retryAfterSeconds" in caught.value.status()["details"]) is bool(seconds)
