"""Volume classes: the storage class that a PersistentVolume or a PersistentVolumeClaim names.

Pure. Must hold: the annotation of old objects wins over the field.
"""

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import objects

CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class"
"""The annotation that named the storage class before there was a field."""


def class_of(obj: Object) -> str:
    """The class that a claim or a volume names; empty when it names none."""
    annotations = obj["metadata"].get("annotations") or {}
    return str(annotations.get(CLASS_ANNOTATION, objects.get(obj, "spec.storageClassName", "")))
