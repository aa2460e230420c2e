"""A made-up minor, 1.38: the newest one with a field, a kind and a gate more, as definitions and as sources."""

import copy
import json
from pathlib import Path
from typing import Any

import kubernetes_validate

from aio_apiserver.registry.base.timeline import PATCHES, text_of
from aio_apiserver.registry.machinery.schema import definitions
from scripts.upstream.facts.gates import Gate
from tests.paths import ROOT
from tests.scripts.upstream import source_tree

MINOR = "1.38"
_NEWEST = max(PATCHES)
_META = "#/$defs/io.k8s.apimachinery.pkg.apis.meta.v1."
_NODE = "io.k8s.api.node.v1."
_TYPE_META = {"apiVersion": {"type": ["string", "null"]}, "kind": {"type": ["string", "null"]}}
_SCHEMAS = Path(kubernetes_validate.__file__).parent / "kubernetes-json-schema"


def definitions_of_it() -> dict[str, Any]:
    """Its OpenAPI definitions."""
    newest = definitions.load(text_of(_NEWEST))
    published = {name: copy.deepcopy(dict(newest[name])) for name in newest}
    origin = {"type": ["string", "null"], "description": "Where the data come from."}
    published["io.k8s.api.core.v1.ConfigMap"]["properties"]["origin"] = origin
    published[f"{_NODE}Widget"] = _kind(
        "Widget", {"metadata": f"{_META}ObjectMeta", "spec": f"#/$defs/{_NODE}WidgetSpec"}
    )
    published[f"{_NODE}WidgetList"] = _kind("WidgetList", {"metadata": f"{_META}ListMeta"})
    published[f"{_NODE}WidgetList"]["properties"]["items"] = {
        "type": ["array", "null"],
        "items": {"$ref": f"#/$defs/{_NODE}Widget"},
    }
    published[f"{_NODE}WidgetSpec"] = {
        "type": "object",
        "properties": {"handler": {"type": ["string", "null"]}},
        "required": ["handler"],
    }
    return published


def install_definitions(folder: Path) -> None:
    """Make the package kubernetes_validate in a folder, with the minor beside those that are installed."""
    package = folder / "kubernetes_validate"
    schemas = package / "kubernetes-json-schema"
    schemas.mkdir(parents=True)
    (package / "__init__.py").touch()
    for source in _SCHEMAS.iterdir():
        (schemas / source.name).symlink_to(source)
    own = schemas / f"v{MINOR}.0-local"
    own.mkdir()
    (own / "_definitions.json").write_text(json.dumps({"$defs": definitions_of_it()}))


def write_sources(folder: Path) -> None:
    """Write the source tree of its release."""
    facts = source_tree.facts_of(ROOT, _NEWEST)
    core, node = (facts["fields"][f"k8s.io.api.{group}.v1"] for group in ("core", "node"))
    core["ConfigMap"]["origin"] = (5, "string", "optional")
    node["Widget"] = {
        "metadata": (1, ".k8s.io.apimachinery.pkg.apis.meta.v1.ObjectMeta", "optional"),
        "spec": (2, "WidgetSpec", "optional"),
    }
    node["WidgetList"] = {
        "metadata": (1, ".k8s.io.apimachinery.pkg.apis.meta.v1.ListMeta", "optional"),
        "items": (2, "Widget", "repeated", "!"),
    }
    node["WidgetSpec"] = {"handler": (1, "string", "optional", "!")}
    structs = facts["internal structs"]
    structs["core.ConfigMap"] = [*structs["core.ConfigMap"], "Origin:text"]
    structs["node.Widget"] = ["+metadata", "Spec:WidgetSpec"]
    structs["node.WidgetSpec"] = ["Handler:text"]
    facts["feature gates"]["WidgetRollout"] = Gate(((MINOR, "Beta", True, False),), ())
    source_tree.write(folder, facts, definitions_of_it())


def _kind(name: str, references: dict[str, str]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {**_TYPE_META, **{field: {"$ref": target} for field, target in references.items()}},
        "x-kubernetes-group-version-kind": [{"group": "node.k8s.io", "version": "v1", "kind": name}],
    }
