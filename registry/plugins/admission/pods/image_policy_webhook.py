"""ImagePolicyWebhook: sends an ImageReview with a pod's images to a webhook, which allows or denies the pod.

    imagePolicy:
      kubeConfigFile: /etc/kubernetes/images.kubeconfig   # address of the webhook, credentials of this server
      allowTTL: 300     # seconds for which an `allowed` answer is cached; -1: it is not cached
      denyTTL: 30       # seconds for which a denial is cached
      retryBackoff: 500 # milliseconds before a failed call is tried again
      defaultAllow: false  # whether pods are allowed when the webhook does not answer

Must hold: a review depends on the images, the annotations for image policies, and the namespace. Answers are cached for
a bounded time and in bounded numbers.
"""

import hashlib
from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson
from msgspec import Struct

from aio_apiserver.base.clock import Clock
from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.golang import durations
from aio_apiserver.registry.generic.admission import refusals
from aio_apiserver.registry.generic.admission.interface import Attributes, Operation, Plugin
from aio_apiserver.registry.generic.rest import Foundation
from aio_apiserver.registry.generic.webhook_calls import Ask, WebhookFailed
from aio_apiserver.registry.plugins.admission.pod_writes import PODS

_API_VERSION, _KIND = "imagepolicy.k8s.io/v1alpha1", "ImageReview"
_EPHEMERAL = "ephemeralcontainers"
_OUR_ANNOTATIONS = ".image-policy.k8s.io/"
_NOTES = f"imagepolicywebhook{_OUR_ANNOTATIONS}"
_FAILED_OPEN = f"{_NOTES}failed-open"
_MOST_REMEMBERED = 1024
_NEVER = -1
_MILLISECOND = 1e-3


class ImagePolicySettings(Struct, frozen=True, kw_only=True):
    """The configuration of the plugin. Durations are in seconds."""

    file: Path
    allowed_seconds: float
    denied_seconds: float
    first_pause: float
    allows_by_default: bool


def make(given: Foundation) -> "ImagePolicyWebhook":
    """The plugin as it is configured. Raises ValueError, OSError."""
    settings = settings_of(given.config.admission_configuration.get(ImagePolicyWebhook.name))
    ask = given.open_webhook(settings.file, first_pause=settings.first_pause)
    return ImagePolicyWebhook(ask, settings, given.clock)


def settings_of(configuration: Any) -> ImagePolicySettings:
    """The settings in a configuration. Raises ValueError."""
    if configuration is None:
        raise ValueError("no config specified")
    given = configuration.get("imagePolicy") if isinstance(configuration, dict) else None
    if not isinstance(given, dict):
        given = {}
    first_pause = _duration(given, "retryBackoff", unit=_MILLISECOND, default=0.5, bounds=(1e-9, 300.0))
    allowed = _duration(given, "allowTTL", unit=1, default=300.0, bounds=(1.0, 1800.0))
    denied = _duration(given, "denyTTL", unit=1, default=30.0, bounds=(1.0, 1800.0))
    if not given.get("kubeConfigFile"):
        raise ValueError("imagePolicy.kubeConfigFile: no configuration has been provided")
    return ImagePolicySettings(
        file=Path(str(given["kubeConfigFile"])),
        allowed_seconds=allowed,
        denied_seconds=denied,
        first_pause=first_pause,
        allows_by_default=given.get("defaultAllow") is True,
    )


def _duration(
    given: Mapping[str, Any], name: str, *, unit: float, default: float, bounds: tuple[float, float]
) -> float:
    """A duration of the configuration in seconds. Raises ValueError."""
    value = given.get(name) or 0
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError(f"imagePolicy.{name}: must be a whole number")
    if value == _NEVER:
        return 0.0
    if not value:
        return default
    least, most = bounds
    seconds = value * unit
    if not least <= seconds <= most:
        limits = f"{durations.show(least)} and {durations.show(most)}"
        raise ValueError(f"valid value is between {limits}, got {durations.show(seconds)}")
    return seconds


class ImagePolicyWebhook(Plugin):
    """Calls the webhook and caches its answers."""

    name = "ImagePolicyWebhook"
    operations = frozenset({Operation.CREATE, Operation.UPDATE})
    resources = frozenset({PODS})

    def __init__(self, ask: Ask, settings: ImagePolicySettings, clock: Clock) -> None:
        self._ask = ask
        self._settings = settings
        self._clock = clock
        self._answers: OrderedDict[bytes, tuple[float, Object]] = OrderedDict()
        """By the digest of a review's spec, which may be as long as a pod."""

    async def validate(self, attributes: Attributes) -> None:
        if attributes.resource != PODS or attributes.subresource not in ("", _EPHEMERAL):
            return
        try:
            status = await self._status(_spec_of(attributes))
        except WebhookFailed as exc:
            if not self._settings.allows_by_default:
                raise refusals.forbidden(attributes, str(exc)) from exc
            attributes.annotate(_FAILED_OPEN, "true")
            return
        for name, value in (status.get("auditAnnotations") or {}).items():
            attributes.annotate(f"{_NOTES}{name}", str(value))
        if status.get("allowed") is not True:
            raise refusals.forbidden(attributes, _why(status))

    async def _status(self, spec: Object) -> Object:
        """The status of a review, from the cache or from the webhook. Raises WebhookFailed."""
        key = hashlib.sha256(orjson.dumps(spec)).digest()
        known = self._answers.get(key)
        if known is not None and known[0] > self._clock.monotonic():
            self._answers.move_to_end(key)
            return known[1]
        review = {"kind": _KIND, "apiVersion": _API_VERSION, "metadata": {}, "spec": spec, "status": {"allowed": False}}
        status = _status_of(await self._ask(review))
        self._remember(key, status)
        return status

    def _remember(self, key: bytes, status: Object) -> None:
        settings = self._settings
        seconds = settings.allowed_seconds if status.get("allowed") is True else settings.denied_seconds
        self._answers[key] = self._clock.monotonic() + seconds, status
        self._answers.move_to_end(key)
        if len(self._answers) > _MOST_REMEMBERED:
            self._answers.popitem(last=False)


def _spec_of(attributes: Attributes) -> Object:
    """The spec of the ImageReview for a pod. For an update of ephemeral containers: their images."""
    assert attributes.obj is not None
    names = ("ephemeralContainers",) if attributes.subresource else ("containers", "initContainers")
    spec = attributes.obj.get("spec") or {}
    containers = [_container_spec(container) for name in names for container in spec.get(name) or ()]
    annotations = attributes.obj["metadata"].get("annotations") or {}
    forwarded = {name: annotations[name] for name in sorted(annotations) if _OUR_ANNOTATIONS in name}
    review_spec = {"containers": containers, "annotations": forwarded, "namespace": attributes.namespace}
    return {name: value for name, value in review_spec.items() if value}


def _container_spec(container: Mapping[str, Any]) -> Object:
    return {"image": container["image"]} if container.get("image") else {}


def _status_of(review: Object) -> Object:
    status = review.get("status") or {}
    if not isinstance(status, dict) or not isinstance(status.get("auditAnnotations") or {}, dict):
        raise WebhookFailed("the webhook's answer cannot be read")
    return status


def _why(status: Object) -> str:
    if reason := status.get("reason"):
        return f"image policy webhook backend denied one or more images: {reason}"
    return "one or more images rejected by webhook backend"
