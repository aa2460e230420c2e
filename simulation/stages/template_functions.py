"""Template functions: what templates of Stages can call, from Go, from Sprig and from kwok.

Pure. Functions that ask the cluster or the clock are given for each rendering; their names are here.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any

from aio_apiserver.registry.machinery.serializers import yaml
from aio_apiserver.simulation.stages import template_values as values
from aio_apiserver.simulation.stages.template_values import TemplateFailure, printed

Function = Callable[..., Any]

_NAMES = "Now StartTime Version NodeName NodePort NodeIP NodeIPs NodeIPWith NodeIPsWith"
_POD_NAMES = "PodIP PodIPs PodIPWith PodIPsWith"
OF_THE_CLUSTER = frozenset((*_NAMES.split(), *_POD_NAMES.split()))
"""The functions that each rendering is given."""

_CONDITIONS = (
    ("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
    ("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
    ("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    ("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
    ("NetworkUnavailable", "False", "RouteCreated", "RouteController created a route"),
)


def _quote(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))
    return json.dumps(text, ensure_ascii=False)


def _yaml(value: Any, indent: int = 0) -> str:
    text = yaml.dump(value).decode()
    pad = "  " * indent
    return ("\n" + text).replace("\n", "\n" + pad) if indent > 0 else text


def _dict(*pairs: Any) -> dict[str, Any]:
    return {str(name): value for name, value in zip(pairs[::2], pairs[1::2], strict=False)}


def _equal(first: Any, *others: Any) -> bool:
    return any(first == other for other in others)


def _printf(form: str, *given: Any) -> str:
    """Go's printf with %s, %d, %v and %q."""
    texts = iter(given)
    parts = form.replace("%%", "\0").split("%")
    out = [parts[0]]
    for part in parts[1:]:
        if part[:1] not in ("s", "d", "v", "q"):
            raise TemplateFailure(f"printf has no %{part[:1]}")
        value = next(texts, "")
        out.append((_quote(value) if part[0] == "q" else printed(value)) + part[1:])
    return "".join(out).replace("\0", "%")


def _integer(value: Any) -> int:
    try:
        return int(value or 0)
    except ValueError:
        return 0


FUNCTIONS: Mapping[str, Function] = {
    "Quote": _quote,
    "YAML": _yaml,
    "NodeConditions": lambda: [
        {"type": kind, "status": status, "reason": reason, "message": message}
        for kind, status, reason, message in _CONDITIONS
    ],
    "not": lambda value: not values.is_true(value),
    "eq": _equal,
    "ne": lambda one, other: one != other,
    "lt": lambda one, other: one < other,
    "le": lambda one, other: one <= other,
    "gt": lambda one, other: one > other,
    "ge": lambda one, other: one >= other,
    "len": lambda value: len(value or ()),
    "index": values.index,
    "print": lambda *given: "".join(map(printed, given)),
    "printf": _printf,
    "dict": _dict,
    "list": lambda *given: list(given),
    "default": lambda default, value=None: value if values.is_true(value) else default,
    "ternary": lambda one, other, chosen: one if values.is_true(chosen) else other,
    "hasKey": lambda members, name: name in (members or {}),
    "join": lambda between, items: between.join(map(printed, items or ())),
    "quote": lambda value: _quote(printed(value)),
    "toString": printed,
    "int": _integer,
    "add": lambda *given: sum(map(_integer, given)),
    "sub": lambda one, other: _integer(one) - _integer(other),
    "lower": lambda text: printed(text).lower(),
    "upper": lambda text: printed(text).upper(),
    "trim": lambda text: printed(text).strip(),
    "trimPrefix": lambda prefix, text: printed(text).removeprefix(prefix),
    "trimSuffix": lambda suffix, text: printed(text).removesuffix(suffix),
    "replace": lambda old, new, text: printed(text).replace(old, new),
    "contains": lambda part, text: part in printed(text),
    "hasPrefix": lambda prefix, text: printed(text).startswith(prefix),
    "hasSuffix": lambda suffix, text: printed(text).endswith(suffix),
}
