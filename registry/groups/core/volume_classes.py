"""volume_classes: the storage class that a PersistentVolume or a PersistentVolumeClaim names.

Pure. Must hold: the annotation of old objects counts before the field.
"""

from aio_apiserver.registry.base import objects
from aio_apiserver.storage.stored_object import Object

CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class"
"""Where claims and volumes named their class before they had a field for it."""


def class_of(obj: Object) -> str:
    """The class that a claim or a volume names; empty when it names none."""
    annotations = obj["metadata"].get("annotations") or {}
    return str(annotations.get(CLASS_ANNOTATION, objects.get(obj, "spec.storageClassName", "")))
