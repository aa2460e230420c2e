"""Columns: the table columns of a kind, and the functions that make the cells of a row from an object.

Pure. Cells are made from hub objects. A column without a description has that of the field that it shows. Must hold: an
object with nothing but metadata (a bookmark) has a row as well.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import objects
from aio_apiserver.registry.machinery.printing import ages

Cell = Callable[[Object, float], Any]
"""Makes a cell from an object and the time."""

_ROOTS = {"meta": "io.k8s.apimachinery.pkg.apis.", "": "io.k8s.api."}


class Column(Struct, frozen=True, kw_only=True):
    """One column. `field` is the schema's field that describes it (`core.v1.PodStatus.podIP`); priority 1 is wide."""

    name: str
    type: str = "string"
    format: str = ""
    text: str = ""
    field: str = ""
    priority: int = 0

    def definition(self, schemas: Mapping[str, Any]) -> Object:
        """The column in a table's form."""
        return {
            "name": self.name,
            "type": self.type,
            "format": self.format,
            "description": self.text or _description(self.field, schemas),
            "priority": self.priority,
        }


def _nothing(_obj: Object) -> Sequence[Object]:
    return ()


class Columns(Struct, frozen=True):
    """The columns of a kind. `conditions` are those of a row; rows are in the order of the list without an `order`.

    `is_null_when_empty`: a table without rows has null for them, as upstream for kinds without columns of their own.
    """

    columns: Sequence[Column]
    cells: Callable[[Object, float], list[Any]]
    conditions: Callable[[Object], Sequence[Object]] = _nothing
    order: Callable[[Object], Any] | None = None
    is_null_when_empty: bool = False

    def definitions(self, schemas: Mapping[str, Any]) -> list[Object]:
        """The columns in a table's form, with descriptions from OpenAPI definitions."""
        return [column.definition(schemas) for column in self.columns]


def table_of(*columns: tuple[Column, Cell]) -> Columns:
    """Columns with one function for each cell."""
    makers = tuple(cell for _, cell in columns)
    return Columns(
        tuple(column for column, _ in columns), lambda obj, now: [make_cell(obj, now) for make_cell in makers]
    )


def value(path: str, default: Any = "") -> Cell:
    """The value at a path."""
    return lambda obj, _now: objects.get(obj, path, default)


def text(path: str, default: str = "") -> Cell:
    """The text at a path; an empty text counts as not set."""
    return lambda obj, _now: objects.get(obj, path) or default


def count(*paths: str) -> Cell:
    """The number of elements at some paths together."""
    return lambda obj, _now: sum(len(objects.get(obj, path, ())) for path in paths)


def age(path: str) -> Cell:
    """The time since a timestamp."""
    return lambda obj, now: ages.since(objects.get(obj, path), now)


def _description(field: str, schemas: Mapping[str, Any]) -> str:
    definition, _, name = field.rpartition(".")
    root = _ROOTS.get(definition.partition(".")[0], _ROOTS[""])
    described: str = schemas[root + definition]["properties"][name].get("description", "") if field else ""
    return described


NAME = (Column(name="Name", format="name", field="meta.v1.ObjectMeta.name"), value("metadata.name"))
AGE = (Column(name="Age", field="meta.v1.ObjectMeta.creationTimestamp"), age("metadata.creationTimestamp"))
CREATED_AT = (
    Column(name="Created At", type="date", field="meta.v1.ObjectMeta.creationTimestamp"),
    text("metadata.creationTimestamp", "0001-01-01T00:00:00Z"),
)

BY_AGE = table_of(NAME, AGE)
BY_TIME = replace(table_of(NAME, CREATED_AT), is_null_when_empty=True)
