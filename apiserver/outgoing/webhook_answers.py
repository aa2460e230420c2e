"""Webhook answers: reads the response of a webhook as an object, with the error messages of kube-apiserver's client.

Pure.
"""

from typing import Any

import orjson

from aio_apiserver.apiserver.outgoing import webhook_words
from aio_apiserver.apiserver.outgoing.client import HTTPSAnswer
from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.golang import json_errors
from aio_apiserver.registry.generic.bodies.contents import NOT_AN_OBJECT
from aio_apiserver.registry.generic.webhook_calls import WebhookFailed
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


def read(answer: HTTPSAnswer) -> Object:
    """The object of a response, in JSON or YAML. Raises WebhookFailed."""
    check(answer)
    if not answer.body:
        what = f"status code: {answer.status} and content type: {answer.media_type or 'application/json'}"
        raise WebhookFailed(f"0-length response with {what}")
    try:
        value = orjson.loads(answer.body)
    except orjson.JSONDecodeError:
        value = _read_yaml(answer.body)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise _unreadable(NOT_AN_OBJECT.format(found=json_type(value)))
    return value


def _read_yaml(body: bytes) -> Any:
    if body.lstrip().startswith(b"{"):
        raise _unreadable(json_errors.describe(body) or "invalid character")
    try:
        return yaml.read(body).value
    except ValueError as exc:
        raise _unreadable(f"error converting YAML to JSON: {exc}") from exc


def _unreadable(why: str) -> WebhookFailed:
    return WebhookFailed(f"couldn't get version/kind; json parse error: {why}")
