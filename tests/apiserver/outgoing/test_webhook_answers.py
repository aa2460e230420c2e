"""The objects that webhooks answer with. The watchdog of the tests limits the time that the event loop is held."""

from collections.abc import Mapping

import pytest

from aio_apiserver.apiserver.outgoing import webhook_answers
from aio_apiserver.apiserver.outgoing.client import HTTPSAnswer
from aio_apiserver.apiserver.wire import bodies
from aio_apiserver.registry.generic.webhook_calls import WebhookFailed

SIZE = bodies.LIMIT - 100


def answer(body: bytes, status: int = 200) -> HTTPSAnswer:
    return HTTPSAnswer(status, "application/json", -1, body)


def filled(beginning: bytes, part: bytes, end: bytes) -> bytes:
    """A body of nearly 3 MiB."""
    return beginning + part * (SIZE // len(part)) + end


TOO_MANY = "exceeded max number of maps and lists: 131072"
REFUSED: Mapping[str, tuple[bytes, str]] = {
    "empty lists": (filled(b'{"a": [', b"[],", b"0]}"), TOO_MANY),
    "empty maps": (filled(b'{"a": [', b"{},", b"0]}"), TOO_MANY),
    "deep lists": (b'{"a": ' + b"[" * 1_000 + b"]" * 1_000 + b"}", "exceeded max depth"),
    "no JSON at the end": (
        b'{"a": [' + b"1," * 40_000 + b"z]}",
        "invalid character 'z' looking for beginning of value",
    ),
    "aliases": (b"a: &a [x]\n" + b"".join(b"%c: &%c [*%c,*%c]\n" % (n + 1, n + 1, n, n) for n in range(97, 122)), ""),
}


@pytest.mark.parametrize("name", REFUSED)
async def test_an_answer_beyond_the_limits_of_a_body_is_refused(name: str) -> None:
    body, why = REFUSED[name]

    with pytest.raises(WebhookFailed, match=f"couldn't get version/kind; json parse error: .*{why}"):
        await webhook_answers.read(answer(body), "webhook.example")


@pytest.mark.parametrize(
    "body", [b'{"a": 1}', b"a: 1\n", filled(b'{"a": 1, "b": "', b"x", b'"}'), filled(b"a: 1\nb: ", b"x", b"")]
)
async def test_short_and_long_answers_are_read(body: bytes) -> None:
    assert (await webhook_answers.read(answer(body), "webhook.example"))["a"] == 1


async def test_a_failure_of_megabytes_is_not_read_as_a_status() -> None:
    body = filled(b'{"kind": "Status", "status": "Failure", "message": "long", "a": [', b"[],", b"0]}")

    with pytest.raises(WebhookFailed, match=r"an error on the server .* has prevented the request from succeeding"):
        await webhook_answers.read(answer(body, 500), "webhook.example")
