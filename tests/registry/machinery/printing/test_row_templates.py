"""Row templates: at any time, the filled template equals a row that is made at that time."""

import orjson
import pytest

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.names import GroupKind
from aio_apiserver.registry.groups.apiextensions.definitions.definition import Version
from aio_apiserver.registry.groups.apiextensions.serving import columns as custom_columns
from aio_apiserver.registry.machinery.printing import ages, row_templates, tables
from aio_apiserver.registry.machinery.printing.columns import BY_AGE, Columns
from aio_apiserver.registry.machinery.printing.row_templates import RowTemplate
from tests.golden.recorded import recorded
from tests.registry.machinery.printing.rows import COLUMNS

CREATED = ages.seconds_of("2024-05-06T07:08:09Z")
TIMES = [CREATED + passed for passed in (-5, -1, 0.9, 1, 119, 121.5, 7000, 40_000, 500_000, 50_000_000, 500_000_000)]


def template(columns: Columns, obj: Object) -> RowTemplate:
    return row_templates.of(tables.row(columns, obj, now=ages.LATER))


def test_rows_of_all_recorded_objects_are_right_at_any_time() -> None:
    seen = set()
    for objects in recorded().values():
        for obj in objects:
            if isinstance(obj.get("metadata"), dict) and "/" not in obj["metadata"].get("name", "/"):
                group = obj["apiVersion"].rpartition("/")[0]
                columns = COLUMNS.get(GroupKind(group, obj["kind"]), BY_AGE)
                made = template(columns, obj)

                for now in TIMES:
                    assert made.at(now) == orjson.dumps(tables.row(columns, obj, now=now)), (obj, now)
                seen.add(obj["kind"])

    assert {"Pod", "Job", "CronJob", "Event", "Deployment", "Node", "Service"} <= seen


def test_a_duration_within_a_text_counts_on() -> None:
    restarted = {"restartCount": 3, "lastState": {"terminated": {"finishedAt": "2024-05-06T07:08:09Z"}}}
    pod = {"metadata": {"name": "a"}, "spec": {}, "status": {"containerStatuses": [restarted]}}
    made = template(COLUMNS[GroupKind("", "Pod")], pod)

    shown = [orjson.loads(made.at(CREATED + passed))["cells"][3] for passed in (10, 7200)]

    assert shown == ["3 (10s ago)", "3 (120m ago)"]


@pytest.mark.parametrize("created", ["2024-05-06T07:08:09Z", "yesterday", 7, None])
def test_dates_of_custom_resources_count_on(created: object) -> None:
    asked = [
        {"name": "Since", "type": "date", "jsonPath": ".spec.since"},
        {"name": "n", "type": "string", "jsonPath": ".spec"},
    ]
    columns = custom_columns.of(Version("v1", True, {"additionalPrinterColumns": asked}), {})
    obj = {"metadata": {"name": "a"}, "spec": {"since": created, "text": "<b>"}}

    made = template(columns, obj)

    for now in TIMES:
        assert made.at(now) == orjson.dumps(tables.row(columns, obj, now=now))


def test_an_object_cannot_hold_a_mark() -> None:
    obj = {"metadata": {"name": "<0123456789abcdef:1.0>", "creationTimestamp": "2024-05-06T07:08:09Z"}}

    row = orjson.loads(template(BY_AGE, obj).at(CREATED))

    assert row["cells"] == ["<0123456789abcdef:1.0>", "0s"]
