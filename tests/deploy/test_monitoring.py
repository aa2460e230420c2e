"""deploy/prometheus and deploy/grafana: rules and a dashboard that read what the server publishes."""

import json
import re
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any

import yaml
from msgspec import Struct, field

from aio_apiserver.apiserver.metrics import process
from aio_apiserver.base.measures import MetricKind
from tests.apiserver.serving import running
from tests.paths import ROOT

Labels = Mapping[str, set[str]]
"""The labels of metrics, by name."""

SCRAPED = {"job", "instance"}
"""Labels that Prometheus adds."""
WORDS = {"and", "or", "unless", "offset", "bool", "inf", "nan"}
GROUPINGS = {"by", "without", "on", "ignoring", "group_left", "group_right"}
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|\[[^]]*\]|[A-Za-z_:][\w:]*|\d[\w.]*|\S')
NAME = re.compile(r"[A-Za-z_:][\w:]*")
LEGEND = re.compile(r"\{\{\s*(?:\$labels\.)?(\w+)")


class Query(Struct):
    """What an expression reads: metrics with the labels of their selectors, and the labels of its groupings."""

    metrics: dict[str, set[str]] = field(default_factory=dict)
    groupings: set[str] = field(default_factory=set)


def read(expression: str) -> Query:
    """The names in a PromQL expression."""
    tokens, query = TOKEN.findall(expression), Query()
    name = ""
    while tokens:
        token, following = tokens.pop(0), next(iter(tokens[:1]), "")
        if token == "{":
            selector = tokens[: tokens.index("}")]
            query.metrics[name] |= {one for one in selector if NAME.fullmatch(one)}
            del tokens[: len(selector) + 1]
        elif token in GROUPINGS:
            names = tokens[1 : tokens.index(")")]
            query.groupings |= {one for one in names if NAME.fullmatch(one)}
            del tokens[: len(names) + 2]
        elif NAME.fullmatch(token) and token not in WORDS and following not in {"(", *GROUPINGS}:
            name = token
            query.metrics.setdefault(name, set())
    return query


def test_the_names_in_an_expression_are_found() -> None:
    found = read('sum by (verb, le) (rate(a_bucket{code=~"5..", x!="b{c}"}[5m])) / on (job) group:b or vector(0) > 1e9')

    assert found == Query({"a_bucket": {"code", "x"}, "group:b": set()}, {"verb", "le", "job"})


async def published(directory: Path) -> Labels:
    """The samples that a server publishes, and `up`, which Prometheus adds."""
    async with running(directory, controllers=("namespace-controller",)) as server:
        monitoring = server.parts.monitoring
        families = [*monitoring.measures.families(), *monitoring.health.families()]
    names: list[str] = re.findall(r"^# TYPE (process_\w+)", process.text(), re.MULTILINE)
    found = {name: set[str]() for name in (*names, "up")}
    for family in families:
        labels = set(family.labels)
        if family.kind is MetricKind.HISTOGRAM:
            sums = {f"{family.name}_sum": labels, f"{family.name}_count": labels}
            found |= {f"{family.name}_bucket": {*labels, "le"}, **sums}
        else:
            found[family.name] = labels
    return {name: labels | SCRAPED for name, labels in found.items()}


def rules(name: str) -> list[dict[str, Any]]:
    """The rules of a file, whose groups have names."""
    document = yaml.safe_load((ROOT / "deploy/prometheus" / name).read_text())
    assert set(document) == {"groups"}
    assert all(set(group) == {"name", "rules"} for group in document["groups"])
    return [rule for group in document["groups"] for rule in group["rules"]]


def with_recorded(known: Labels) -> Labels:
    """The samples and those that the recording rules make of them."""
    found = dict(known)
    for rule in rules("recording-rules.yaml"):
        query = read(rule["expr"])
        assert unknown(query, found) == []
        labels = query.groupings or set[str]().union(*(found[name] for name in query.metrics))
        found[rule["record"]] = labels - ({"le"} if rule["expr"].startswith("histogram_quantile") else set())
    return found


def unknown(query: Query, known: Labels) -> list[str]:
    """The metrics that an expression names and the server does not publish, and the labels that they lack."""
    return [
        *(name for name in query.metrics if name not in known),
        *(
            f"{name} has no {label}"
            for name, labels in query.metrics.items()
            for label in sorted((labels | query.groupings) - known.get(name, set()))
        ),
    ]


def targets(dashboard: Mapping[str, Any]) -> Iterator[Mapping[str, str]]:
    return (target for panel in dashboard["panels"] for target in panel.get("targets", ()))


async def test_each_name_in_rules_and_panels_is_published(tmp_path: Path) -> None:
    known = with_recorded(await published(tmp_path))
    dashboard = json.loads((ROOT / "deploy/grafana/aio-apiserver.json").read_text())
    shown = [(target["expr"], target["legendFormat"]) for target in targets(dashboard)]
    shown += [(rule["expr"], json.dumps(rule["annotations"])) for rule in rules("alerts.yaml")]

    for expression, text in shown:
        query = read(expression)
        assert unknown(query, known) == []
        assert query.metrics
        named = set(LEGEND.findall(text))
        assert named <= (query.groupings or set[str]().union(*(known[name] for name in query.metrics)))


def test_an_alert_says_what_to_do() -> None:
    alerts = rules("alerts.yaml")

    assert len({alert["alert"] for alert in alerts}) == len(alerts)
    assert all(set(alert["annotations"]) == {"summary", "description"} for alert in alerts)
    assert {alert["labels"]["severity"] for alert in alerts} == {"critical", "warning"}


def extent(place: Mapping[str, int], start: str, size: str) -> range:
    return range(place[start], place[start] + place[size])


def test_the_panels_of_the_dashboard_do_not_overlap() -> None:
    dashboard = json.loads((ROOT / "deploy/grafana/aio-apiserver.json").read_text())
    places = [panel["gridPos"] for panel in dashboard["panels"]]
    cells = [cell for at in places for cell in product(extent(at, "x", "w"), extent(at, "y", "h"))]

    assert len(set(cells)) == len(cells)
    assert len({panel["id"] for panel in dashboard["panels"]}) == len(places)
