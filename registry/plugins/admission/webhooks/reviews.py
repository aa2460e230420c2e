"""Reviews: the AdmissionReview that a webhook gets. Pure.

Must hold: missing objects and options are null.
"""

from collections.abc import Sequence

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.generic.admission.form import AdmissionForm
from aio_apiserver.registry.generic.admission.interface import Attributes
from aio_apiserver.registry.plugins.admission import admission_requests
from aio_apiserver.registry.plugins.admission.webhooks.versioned_attributes import VersionedAttributes

GROUP, KIND = "admission.k8s.io", "AdmissionReview"
VERSIONS = ("v1", "v1beta1")


def version_of(spoken: Sequence[str]) -> str | None:
    """The first review version of a webhook that this server supports."""
    return next((version for version in spoken if version in VERSIONS), None)


def api_version(version: str) -> str:
    return f"{GROUP}/{version}"


def review(version: str, uid: str, attributes: Attributes, own: AdmissionForm, shown: VersionedAttributes) -> Object:
    """The review of a write. `own` is the form of the request, `shown` the write in the matched form."""
    request = admission_requests.request(attributes, own, shown.form)
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
