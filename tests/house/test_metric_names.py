"""Names of metrics stand in apiserver/metrics: storage, registry and controllers count without names."""

import ast
import re
from collections.abc import Iterator

from aio_apiserver.apiserver.config.settings import Settings
from tests.house.sources import Source, product
from tests.paths import ROOT

_NAME = re.compile(
    r"^(aio_apiserver|apiserver|etcd|kube_apiserver|pod_security|rest_client|workqueue|aggregator|watch_cache)_[a-z_]*$"
)
_OTHERS = {
    "apiserver_internal_error": "a label's value, of upstream's webhook metrics",
    **dict.fromkeys(Settings.model_fields, "a flag"),
}
_PUBLISHED = frozenset(re.findall(r"^\| `([a-z0-9_]+)`", (ROOT / "docs" / "metrics.md").read_text(), re.MULTILINE))


def _texts(source: Source) -> Iterator[str]:
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def _is_name(text: str) -> bool:
    return text in _PUBLISHED or (_NAME.match(text) is not None and text not in _OTHERS)


def test_names_of_metrics_stand_beside_each_other() -> None:
    beyond = {
        source.path: names
        for source in product()
        if not source.name.startswith(("apiserver.metrics.", "testing."))
        if (names := sorted({text for text in _texts(source) if _is_name(text)}))
    }

    assert beyond == {}, f"count without a name, and name the count in apiserver/metrics: {beyond}"
