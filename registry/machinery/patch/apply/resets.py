"""Resets: what writers on a path cannot set, so that nobody owns it by writing there.

An update of the main resource keeps the status, one of /status keeps the rest: fields that a writer sends in vain are
no fields of his. Pure.
"""

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from aio_apiserver.registry.machinery.patch.apply import elements, fields
from aio_apiserver.registry.machinery.patch.apply.fields import Fields


def _all(found: Fields) -> Fields:
    return found


class Resets(Struct, frozen=True):
    """`kept` is what remains of a set of fields."""

    kept: Callable[[Fields], Fields] = _all


NO_RESETS = Resets()


def resets(group: str, plural: str, subresource: str, *, has_status: bool, is_custom: bool = False) -> Resets:
    """What writers on a path of a kind cannot set."""
    paths = _RESET.get((group, plural, subresource))
    if paths is None:
        paths = _usual(subresource, has_status=has_status, is_custom=is_custom)
    reset = fields.of_paths(tuple(map(elements.field, path.split("."))) for path in paths)
    return Resets(lambda found: fields.outside(found, reset)) if reset else NO_RESETS


_WITH_METADATA = ("metadata", "spec")


def _usual(subresource: str, *, has_status: bool, is_custom: bool) -> Sequence[str]:
    if not subresource:
        return ("status",) if has_status else ()
    if subresource != "status":
        return ()
    return _WITH_METADATA if is_custom else ("spec",)


_RESET: Mapping[tuple[str, str, str], Sequence[str]] = {
    ("", "namespaces", "finalize"): ("status",),
    ("", "pods", "status"): ("spec", "metadata.deletionTimestamp", "metadata.ownerReferences"),
    ("admissionregistration.k8s.io", "validatingadmissionpolicies", "status"): _WITH_METADATA,
    ("apiregistration.k8s.io", "apiservices", "status"): _WITH_METADATA,
    ("apps", "deployments", "status"): ("spec", "metadata.labels"),
    ("certificates.k8s.io", "certificatesigningrequests", ""): ("spec", "status"),
    ("certificates.k8s.io", "certificatesigningrequests", "approval"): ("spec", "status.certificate"),
    ("certificates.k8s.io", "certificatesigningrequests", "status"): ("spec", "status.conditions"),
    ("certificates.k8s.io", "podcertificaterequests", ""): (),
    ("flowcontrol.apiserver.k8s.io", "flowschemas", "status"): _WITH_METADATA,
    ("flowcontrol.apiserver.k8s.io", "prioritylevelconfigurations", "status"): _WITH_METADATA,
    ("internal.apiserver.k8s.io", "storageversions", "status"): _WITH_METADATA,
    ("networking.k8s.io", "servicecidrs", "status"): _WITH_METADATA,
    ("resource.k8s.io", "devicetaintrules", "status"): _WITH_METADATA,
    ("resource.k8s.io", "resourceclaims", "status"): _WITH_METADATA,
    ("resource.k8s.io", "resourcepoolstatusrequests", "status"): _WITH_METADATA,
    ("scheduling.k8s.io", "podgroups", "status"): _WITH_METADATA,
    ("storage.k8s.io", "volumeattachments", "status"): _WITH_METADATA,
    ("storagemigration.k8s.io", "storageversionmigrations", "status"): _WITH_METADATA,
}
"""By group, resource and subresource, where it is not the usual: dotted paths of members. (Of pods/resize and
pods/ephemeralcontainers nothing is reset, though they keep the rest.)
"""
