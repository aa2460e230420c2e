"""Formats: cell texts that several kinds share.

Pure. Must hold: a missing value has the word that kubectl's users expect, such as `<none>`.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import objects
from aio_apiserver.registry.machinery.printing.columns import Cell, Column
from aio_apiserver.registry.machinery.selectors.texts import selector_text

NONE = "<none>"
UNSET = "<unset>"

_CONTAINER_NAMES = Column(name="Containers", text="Names of each container in the template.", priority=1)
_CONTAINER_IMAGES = Column(name="Images", text="Images referenced by each container in the template.", priority=1)


def labels(path: str) -> Cell:
    """Labels, or a map of labels that selects."""
    return lambda obj, _now: labels_text(objects.get(obj, path)) or NONE


def selector(path: str) -> Cell:
    """A label selector."""
    return lambda obj, _now: selector_text(objects.get(obj, path)) or NONE


def labels_text(pairs: Mapping[str, str] | None) -> str:
    """Pairs in the order of their names."""
    return ",".join(f"{name}={value}" for name, value in sorted((pairs or {}).items()))


def ratio(part: str, whole: str) -> Cell:
    """Two counts: 1/3."""
    return lambda obj, _now: f"{objects.get(obj, part, 0)}/{objects.get(obj, whole, 0)}"


def joined(path: str, member: str, default: str = "") -> Cell:
    """One member of each element of a list."""

    def cell(obj: Object, _now: float) -> str:
        return ",".join(str(element.get(member, "")) for element in objects.get(obj, path, ())) or default

    return cell


def containers(template: str) -> Sequence[tuple[Column, Cell]]:
    """The names and images of a pod template's containers."""
    path = f"{template}.spec.containers"
    return ((_CONTAINER_NAMES, joined(path, "name")), (_CONTAINER_IMAGES, joined(path, "image")))


def with_more(texts: Sequence[str], limit: int, total: int, separator: str = ",") -> str:
    """The first few texts, and the number of the others."""
    shown = separator.join(texts[:limit])
    return f"{shown} + {total - limit} more..." if total > limit else shown


def condition(obj: Object, kind: str, path: str = "status.conditions") -> Mapping[str, Any] | None:
    """The first condition of a type."""
    return next((one for one in objects.get(obj, path, ()) if one.get("type") == kind), None)


def is_true(obj: Object, kind: str) -> bool:
    """Whether a condition holds."""
    found = condition(obj, kind)
    return found is not None and found.get("status") == "True"


def addresses(ingress: Iterable[Mapping[str, Any]]) -> str:
    """The addresses of a load balancer, sorted, each once."""
    return ",".join(sorted({one.get("ip") or one.get("hostname") or "" for one in ingress} - {""}))


def marked_name(*annotations: str) -> Cell:
    """The name, with `(default)` if an annotation makes the object the default."""

    def cell(obj: Object, _now: float) -> str:
        given = obj["metadata"].get("annotations") or {}
        name = str(obj["metadata"].get("name", ""))
        return f"{name} (default)" if any(given.get(one) == "true" for one in annotations) else name

    return cell
