"""Failures: the errors of webhook calls, and how they refuse a write. Pure."""

from typing import Any

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.errors import InternalError, StatusError
from aio_apiserver.registry.base.golang.quoting import quote

_LEAST_CODE = 400


class CallFailed(Exception):
    """A webhook could not be called, or its response is not valid. failurePolicy decides about the write."""

    def __init__(self, webhook: str, why: str, *, code: int = 503) -> None:
        super().__init__(f"failed calling webhook {quote(webhook)}: {why}")
        self.code = code

    def refusal(self) -> InternalError:
        """The error for a write whose webhook has failurePolicy Fail."""
        return InternalError(str(self))


class WebhookDenied(StatusError):
    """The denial of a webhook, with the Status of its response."""

    def __init__(self, webhook: str, status: Object | None) -> None:
        given = status or {}
        super().__init__(_message(webhook, given))
        self.code = max(int(given.get("code") or 0), _LEAST_CODE)
        self.reason = given.get("reason") or ""
        self._given = given

    @property
    def retry_after_seconds(self) -> int:
        return int((self._given.get("details") or {}).get("retryAfterSeconds") or 0)

    def status(self) -> dict[str, Any]:
        body = super().status()
        code = body.pop("code")
        body["metadata"] = self._given.get("metadata") or {}
        if self._given.get("status") not in (None, "", "Success"):
            body["status"] = self._given["status"]
        if self._given.get("details") is not None:
            body["details"] = self._given["details"]
        return {**body, "code": code}


def _message(webhook: str, status: Object) -> str:
    reported = status.get("message") or status.get("reason")
    head = f"admission webhook {quote(webhook)} denied the request"
    return f"{head}: {reported}" if reported else f"{head} without explanation"
