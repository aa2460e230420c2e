"""Reviews: the webhook requests that functions of a test get, and the responses made from their results. Pure.

Must hold: a result of an unknown type is an error. A mutating function changes a copy of the object, so that the patch
starts from the object in the request.

>>> list(difference({"a": 1, "b": [1, 2]}, {"b": [1, 3]}))
[{'op': 'remove', 'path': '/a'}, {'op': 'replace', 'path': '/b/1', 'value': 3}]

The operations, applied in order, make `after` from `before`.
"""

import base64
import copy
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NoReturn

Object = dict[str, Any]
ADMISSION = "admission.k8s.io/v1"
CONVERSION = "apiextensions.k8s.io/v1"
_REVIEW = "AdmissionReview"


class Denied(Exception):
    """The webhook denies the request."""

    def __init__(self, message: str, *, code: int = 403, reason: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason


class Review:
    """One AdmissionRequest. A mutating function changes `object`, or returns another one."""

    def __init__(self, request: Mapping[str, Any]) -> None:
        self.request = request
        """The AdmissionRequest itself."""
        self.object: Object = copy.deepcopy(request.get("object") or {})
        """Empty for a deletion."""
        self.old_object: Object = copy.deepcopy(request.get("oldObject") or {})
        """Empty for a creation."""
        self.warnings: list[str] = []
        self.annotations: dict[str, str] = {}

    @property
    def operation(self) -> str:
        """CREATE, UPDATE, DELETE or CONNECT."""
        return str(self.request["operation"])

    @property
    def resource(self) -> str:
        resource: str = self.request["resource"]["resource"]
        return f"{resource}/{self.subresource}" if self.subresource else resource

    @property
    def subresource(self) -> str:
        return str(self.request.get("subResource") or "")

    @property
    def namespace(self) -> str:
        return str(self.request.get("namespace") or "")

    @property
    def name(self) -> str:
        return str(self.request.get("name") or "")

    @property
    def user(self) -> str:
        return str(self.request["userInfo"].get("username", ""))

    @property
    def is_dry_run(self) -> bool:
        return bool(self.request.get("dryRun"))

    def deny(self, message: str, *, code: int = 403, reason: str = "") -> NoReturn:
        """Deny the request. Raises Denied."""
        raise Denied(message, code=code, reason=reason)

    def warn(self, text: str) -> None:
        """Add a warning to the response that the client gets."""
        self.warnings.append(text)

    def annotate(self, name: str, value: str) -> None:
        """Add an audit annotation."""
        self.annotations[name] = value


def allowed(review: Review, result: Any) -> Object:
    """The response for the result of a validating function. Raises Denied, TypeError."""
    if _is_review(result):
        return dict(result)
    if result is False or isinstance(result, str):
        raise Denied(result or "denied")
    if result is None or result is True:
        return _answer(review, allowed=True)
    raise TypeError(f"a validating function returns nothing, a bool, a reason or an AdmissionReview, not {result!r}")


def mutated(review: Review, result: Any) -> Object:
    """The response for the result of a mutating function. Raises Denied, TypeError."""
    if isinstance(result, dict) and not _is_review(result):
        return _patched(review, list(difference(review.request.get("object"), result)))
    if isinstance(result, Sequence) and not isinstance(result, str):
        return _patched(review, result)
    answer = allowed(review, result)
    if _is_review(result) or not review.object:
        return answer
    return _patched(review, list(difference(review.request.get("object"), review.object)))


def denied(review: Review, failure: Denied) -> Object:
    """The response that denies the request."""
    status: Object = {"message": str(failure), "code": failure.code}
    if failure.reason:
        status["reason"] = failure.reason
    return _answer(review, allowed=False, status=status)


def converted(request: Mapping[str, Any], objects: Sequence[Object]) -> Object:
    """The ConversionReview response with the converted objects."""
    return _conversion({"uid": request["uid"], "result": {"status": "Success"}, "convertedObjects": objects})


def not_converted(request: Mapping[str, Any], why: str) -> Object:
    """The ConversionReview response of a failed conversion."""
    result = {"status": "Failure", "message": why}
    return _conversion({"uid": request["uid"], "result": result, "convertedObjects": []})


def _is_review(result: Any) -> bool:
    return isinstance(result, dict) and result.get("kind") == _REVIEW


def _patched(review: Review, patch: Sequence[Any]) -> Object:
    if not patch:
        return _answer(review, allowed=True)
    encoded = base64.b64encode(json.dumps(list(patch)).encode()).decode()
    return _answer(review, allowed=True, patch=encoded, patchType="JSONPatch")


def _answer(review: Review, **response: Any) -> Object:
    response_with_uid = {"uid": review.request["uid"], **response}
    if review.warnings:
        response_with_uid["warnings"] = review.warnings
    if review.annotations:
        response_with_uid["auditAnnotations"] = review.annotations
    return {"apiVersion": ADMISSION, "kind": _REVIEW, "response": response_with_uid}


def _conversion(response: Object) -> Object:
    return {"apiVersion": CONVERSION, "kind": "ConversionReview", "response": response}


Operation = dict[str, Any]


def difference(before: Any, after: Any, path: str = "") -> Iterator[Operation]:
    """The operations of the patch."""
    if isinstance(before, dict) and isinstance(after, dict):
        yield from _of_maps(before, after, path)
    elif isinstance(before, list) and isinstance(after, list):
        yield from _of_lists(before, after, path)
    elif before != after or isinstance(before, bool) is not isinstance(after, bool):
        yield {"op": "replace", "path": path, "value": after}


def _of_maps(before: dict[str, Any], after: dict[str, Any], path: str) -> Iterator[Operation]:
    for name in before:
        if name not in after:
            yield {"op": "remove", "path": _within(path, name)}
    for name, value in after.items():
        if name in before:
            yield from difference(before[name], value, _within(path, name))
        else:
            yield {"op": "add", "path": _within(path, name), "value": value}


def _of_lists(before: list[Any], after: list[Any], path: str) -> Iterator[Operation]:
    for index, (one, other) in enumerate(zip(before, after, strict=False)):
        yield from difference(one, other, f"{path}/{index}")
    for index in reversed(range(len(after), len(before))):
        yield {"op": "remove", "path": f"{path}/{index}"}
    for value in after[len(before) :]:
        yield {"op": "add", "path": f"{path}/-", "value": value}


def _within(path: str, name: str) -> str:
    return f"{path}/{name.replace('~', '~0').replace('/', '~1')}"
