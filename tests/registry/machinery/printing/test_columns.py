import pytest

from aio_apiserver.registry.base.names import GroupKind
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.machinery.printing.columns import BY_AGE, Columns
from aio_apiserver.registry.machinery.schema import builtin
from tests.registry.machinery.printing.rows import COLUMNS

_NEWEST = "1.37"
"""The minor that has all kinds."""
_UNDESCRIBED = {"Handler", "Scope", "Versions", "Group", "Kind", "ShortNames", "Established"}
"""The column of runtime classes, and those of definitions of custom resources since 1.37."""


@pytest.fixture(params=COLUMNS, ids=str)
def columns(request: pytest.FixtureRequest) -> Columns:
    return COLUMNS[request.param]


def test_every_column_but_a_few_is_described(columns: Columns) -> None:
    definitions = columns.definitions(builtin(_NEWEST).definitions)

    assert all(definition["description"] for definition in definitions if definition["name"] not in _UNDESCRIBED)


def test_an_object_without_anything_has_a_row(columns: Columns) -> None:
    cells = columns.cells({"metadata": {}}, 0)

    assert cells[[column.name for column in columns.columns].index("Name")] == ""
    assert not any(cell is None for cell in cells)


def test_a_kind_without_columns_shows_its_age() -> None:
    columns = Kind(group="example.com", plural="things", kind="Thing").columns

    assert columns is BY_AGE
    assert columns.cells({"metadata": {"name": "a", "creationTimestamp": "1970-01-01T00:00:00Z"}}, 5) == ["a", "5s"]


def test_kinds_of_the_default_convertor_show_when_they_were_made() -> None:
    columns = COLUMNS[GroupKind("", "LimitRange")]

    obj = {"metadata": {"name": "a", "creationTimestamp": "2024-01-02T03:04:05Z"}}
    assert columns.cells(obj, 0) == ["a", "2024-01-02T03:04:05Z"]
    assert columns.columns[1].name == "Created At"
