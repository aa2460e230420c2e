"""Webhook answers: reads the response of a webhook as an object, with the error messages of kube-apiserver's client.

Must hold: whatever a webhook answers, the event loop is not held, and the object has the limits of a client's body.
"""

from functools import partial
from typing import Any

import orjson

from aio_apiserver.apiserver.outgoing import webhook_words
from aio_apiserver.apiserver.outgoing.client import HTTPSAnswer
from aio_apiserver.base import worker_thread
from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.golang import json_errors
from aio_apiserver.registry.base.golang.decode_errors import DecodeError
from aio_apiserver.registry.generic.bodies.contents import NOT_AN_OBJECT
from aio_apiserver.registry.generic.webhook_calls import WebhookFailed
from aio_apiserver.registry.machinery.schema import depth
from aio_apiserver.registry.machinery.schema.scalars import json_type
from aio_apiserver.registry.machinery.serializers import yaml

_OK = range(200, 207)


def check(answer: HTTPSAnswer) -> None:
    """Raises WebhookFailed when the status is not a success."""
    if answer.status not in _OK:
        raise WebhookFailed(
            webhook_words.of_status(answer.status, answer.media_type, answer.body),
            code=answer.status,
            may_pass=webhook_words.may_pass(answer.status, answer.retry_after, answer.body),
        )


async def read(answer: HTTPSAnswer, host: str) -> Object:
    """The object of a response, in JSON or YAML. `host` has a fair share of the worker thread. Raises WebhookFailed."""
    check(answer)
    body = answer.body
    if not body:
        what = f"status code: {answer.status} and content type: {answer.media_type or 'application/json'}"
        raise WebhookFailed(f"0-length response with {what}")
    user = f"webhook {host}"
    if body.lstrip().startswith(b"{"):
        value = await worker_thread.run_sized(partial(_read_json, body), len(body), user)
    else:
        value = await _read_yaml(body, user)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise _unreadable(NOT_AN_OBJECT.format(found=json_type(value)))
    return value


def _read_json(body: bytes) -> Any:
    try:
        value = orjson.loads(body)
        depth.check(value, body)
    except orjson.JSONDecodeError as exc:
        raise _unreadable(json_errors.describe(body) or "invalid character") from exc
    except DecodeError as exc:
        raise _unreadable(exc.message) from exc
    return value


async def _read_yaml(body: bytes, user: str) -> Any:
    try:
        value = (await yaml.read_in_turn(body, user)).value
        await worker_thread.run_sized(partial(depth.check, value), len(body), user)
    except DecodeError as exc:
        raise _unreadable(exc.message) from exc
    except ValueError as exc:
        raise _unreadable(f"error converting YAML to JSON: {exc}") from exc
    return value


def _unreadable(why: str) -> WebhookFailed:
    return WebhookFailed(f"couldn't get version/kind; json parse error: {why}")
