"""Reviews: what webhooks are sent. Pure. Must hold: what is not there of objects and options is told as null."""

from collections.abc import Sequence

from aio_apiserver.registry.generic.admission.form import AdmissionForm
from aio_apiserver.registry.generic.admission.interface import Attributes
from aio_apiserver.registry.plugins.admission import requests
from aio_apiserver.registry.plugins.admission.webhooks.shown import Shown
from aio_apiserver.storage.stored_object import Object

GROUP, KIND = "admission.k8s.io", "AdmissionReview"
VERSIONS = ("v1", "v1beta1")


def version_of(spoken: Sequence[str]) -> str | None:
    """The first version of reviews that a webhook and this server speak."""
    return next((version for version in spoken if version in VERSIONS), None)


def api_version(version: str) -> str:
    return f"{GROUP}/{version}"


def review(version: str, uid: str, attributes: Attributes, own: AdmissionForm, shown: Shown) -> Object:
    """The review of a write that was made in its own form and is shown in another."""
    request = requests.request(attributes, own, shown.form)
    dry_run, options = request.pop("dryRun"), request.pop("options", None)
    return {
        "kind": KIND,
        "apiVersion": api_version(version),
        "request": {
            "uid": uid,
            **request,
            "object": shown.obj,
            "oldObject": shown.old,
            "dryRun": dry_run,
            "options": options,
        },
    }
