"""Approval: the annotation api-approved.kubernetes.io, which definitions in groups of the Kubernetes community need.
Pure.
"""

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.conditions import Condition
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.base.validation import urls
from aio_apiserver.registry.groups.apiextensions.definitions import crd_conditions

ANNOTATION = "api-approved.kubernetes.io"

_SEE = "see https://github.com/kubernetes/enhancements/pull/1111"
_NEEDED = f"protected groups must have approval annotation {quote(ANNOTATION)}"


def is_protected(group: str) -> bool:
    """Whether a group belongs to the Kubernetes community."""
    return group in {"k8s.io", "kubernetes.io"} or group.endswith((".k8s.io", ".kubernetes.io"))


def state(annotation: str) -> tuple[str, str]:
    """The reason and the message of the condition that follows from the annotation."""
    if not annotation:
        return "MissingAnnotation", f"{_NEEDED}, {_SEE}"
    if annotation.startswith("unapproved"):
        return "UnapprovedAnnotation", f"not approved: {quote(annotation)}"
    if _is_url(annotation):
        return "ApprovedAnnotation", f"approved in {annotation}"
    return "InvalidAnnotation", f'{_NEEDED} with either a URL or a reason starting with "unapproved", {_SEE}'


def condition_of(crd: Object) -> Condition | None:
    """The approval condition of a definition; None for a group that needs no approval."""
    if not is_protected(crd["spec"]["group"]):
        return None
    reason, message = state((crd["metadata"].get("annotations") or {}).get(ANNOTATION, ""))
    status = "True" if reason == "ApprovedAnnotation" else "False"
    return crd_conditions.condition(crd_conditions.APPROVED, status=status, reason=reason, message=message)


def _is_url(text: str) -> bool:
    try:
        url = urls.parse(text)
    except urls.UrlError:
        return False
    return bool(url.scheme and url.host)
