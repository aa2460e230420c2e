"""CustomResourceDefinitions for tests."""

from typing import Any

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "spec": {"type": "object", "properties": {"size": {"type": "integer"}, "color": {"type": "string"}}},
        "status": {"type": "object", "properties": {"phase": {"type": "string"}}},
    },
}


def version(name: str, *, storage: bool = False, schema: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """One version of a definition."""
    return {"name": name, "served": True, "storage": storage, "schema": {"openAPIV3Schema": schema or SCHEMA}, **more}


def definition(plural: str = "widgets", *versions: dict[str, Any], kind: str = "Widget", **more: Any) -> dict[str, Any]:
    """A definition in the form in which the registry gets it before a create."""
    return {
        "metadata": {"name": f"{plural}.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": plural, "singular": kind.lower(), "kind": kind, "listKind": f"{kind}List"},
            "versions": list(versions) or [version("v1", storage=True)],
            "conversion": {"strategy": "None"},
            **more,
        },
    }
