"""Annotations: the annotations that direct a simulated cluster, in one table: names, allowed values and meanings.

Pure. The controllers of the simulation read these annotations, and admission warns of wrong values. As a program, the
module prints `docs/annotations.md`.
"""

import difflib
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence

import orjson
from msgspec import Struct

from aio_apiserver.registry.base.golang import durations, quantity
from aio_apiserver.registry.base.golang.decode_errors import DecodeError
from aio_apiserver.registry.base.golang.quoting import quote

PREFIX = "simulate.aio-apiserver/"
USAGE, METRICS, EXTERNAL_METRICS = f"{PREFIX}usage", f"{PREFIX}metrics", f"{PREFIX}external-metrics"
_MEASURED = ("cpu", "memory")
_MOST_EXIT_CODE, _MOST_DIGITS = 255, 3


class ValueForm(Struct, frozen=True):
    """A form of values. `text`: how messages and the page describe it."""

    text: str
    is_valid: Callable[[str], bool]


def _choice(*values: str) -> ValueForm:
    return ValueForm(", ".join(f"`{one}`" for one in values), frozenset(values).__contains__)


def _is_duration(text: str) -> bool:
    try:
        return durations.parse(text) >= 0
    except ValueError:
        return False


def is_exit_code(text: str) -> bool:
    """Whether a text is the exit code of a program."""
    return text.isdecimal() and len(text) <= _MOST_DIGITS and int(text) <= _MOST_EXIT_CODE


def _is_map(text: str) -> bool:
    try:
        found = orjson.loads(text)
    except ValueError:
        return False
    return isinstance(found, dict) and all(isinstance(one, str) for one in found.values())


def values(text: str) -> Mapping[str, str]:
    """The quantities of a text such as `requests=30,queue=1500m`. The result is empty when a part is wrong."""
    parts = [one.strip().partition("=") for one in text.split(",")] if text else []
    found = {name: amount for name, _, amount in parts}
    return found if all(name and _is_amount(amount) for name, amount in found.items()) else {}


def amounts(text: str) -> Mapping[str, str]:
    """The CPU and memory of a text such as `cpu=250m,memory=64Mi`. The result is empty when a part is wrong."""
    found = values(text)
    return found if all(name in _MEASURED for name in found) else {}


def _is_amount(text: str) -> bool:
    try:
        return quantity.parse_cached(text).digits >= 0
    except DecodeError:
        return False


_DURATION = ValueForm("a duration such as `3s` or `1m30s`", _is_duration)
_EXIT_CODE = ValueForm("a number from 0 to 255", is_exit_code)
_TEXT = ValueForm("any text", lambda _text: True)
_AMOUNTS = ValueForm("amounts such as `cpu=250m,memory=64Mi`", lambda text: bool(amounts(text)))
_VALUES = ValueForm("values such as `requests=30,queue=1500m`", lambda text: bool(values(text)))
_FILES = ValueForm("a JSON map of paths and texts", _is_map)
_TRUE = _choice("true")


class SimulationAnnotation(Struct, frozen=True):
    """One annotation, without the prefix."""

    name: str
    form: ValueForm
    meaning: str


_METRICS = SimulationAnnotation(
    "metrics", _VALUES, "the values of the object's metrics, for the metrics Pods and Object of autoscalers"
)
POD_PHASES = ("Running", "Succeeded", "Failed", "CrashLoopBackOff", "ImagePullBackOff", "NotReady", "Pending")
_POD = (
    SimulationAnnotation("phase", _choice(*POD_PHASES), "the state that the pod gets, independent of its containers"),
    SimulationAnnotation("delay", _DURATION, "the time before the pod starts"),
    SimulationAnnotation(
        "run",
        _DURATION,
        "the time that containers run before they end; without `phase` not for `restartPolicy: Always`",
    ),
    SimulationAnnotation("stop", _DURATION, "the time that the pod takes to stop, up to its grace period"),
    SimulationAnnotation(
        "exit-code", _EXIT_CODE, "the exit code of containers that end; without it 1 for the phase `Failed`"
    ),
    SimulationAnnotation("logs", _TEXT, "the log of the containers, instead of the output of their scripts"),
    SimulationAnnotation("files", _FILES, "files in the containers"),
    SimulationAnnotation(
        "usage",
        _AMOUNTS,
        "the CPU and memory that the pod uses, in equal parts by its containers; without it half of the requests, "
        "and `10m` and `16Mi` for containers without requests",
    ),
    _METRICS,
)
_NODE = (
    SimulationAnnotation("node", _TRUE, "marks the node as simulated"),
    SimulationAnnotation(
        "phase",
        _choice("Ready", "NotReady", "Unreachable", "Cordoned", "Drained"),
        "the state of the node, as [the controllers' page](controllers.md#nodes) describes it",
    ),
    SimulationAnnotation("cordoned", _TRUE, "set by the simulation: a phase has cordoned the node"),
)
_VOLUME = (
    SimulationAnnotation(
        "phase",
        _choice("Bound", "Pending", "Failed"),
        "`Pending` for no volume from the simulated provisioner, `Failed` for the event ProvisioningFailed",
    ),
    SimulationAnnotation("delay", _DURATION, "the time until the volume is there"),
)
_ADDRESS = (
    SimulationAnnotation("phase", _choice("Ready", "Pending"), "`Pending` for no address"),
    SimulationAnnotation("delay", _DURATION, "the time until the address is there"),
    _METRICS,
)
_NAMESPACE = (
    _METRICS,
    SimulationAnnotation(
        "external-metrics", _VALUES, "the values of External metrics for autoscalers in the namespace"
    ),
)

ANNOTATIONS: Mapping[tuple[str, str], Sequence[SimulationAnnotation]] = {
    ("", "pods"): _POD,
    ("", "nodes"): _NODE,
    ("", "namespaces"): _NAMESPACE,
    ("", "services"): _ADDRESS,
    ("networking.k8s.io", "ingresses"): _ADDRESS,
    ("", "persistentvolumeclaims"): _VOLUME,
    ("storage.k8s.io", "storageclasses"): _VOLUME,
}
"""The annotations by group and resource. Those of pods count in pod templates, too."""


def warnings(known: Sequence[SimulationAnnotation], annotations: Mapping[str, str], path: str) -> Iterator[str]:
    """What is wrong with the annotations of an object at a path."""
    by_name = {one.name: one for one in known}
    for key, value in annotations.items():
        if not key.startswith(PREFIX):
            continue
        name = key.removeprefix(PREFIX)
        where = f"{path}[{key}]"
        if name not in by_name:
            yield f"{where}: the simulation has no such annotation{_hint(name, list(by_name))}"
        elif not by_name[name].form.is_valid(value):
            allowed = by_name[name].form.text.replace("`", "")
            yield f"{where}: the simulation ignores {quote(value)}, allowed: {allowed}"


def _hint(name: str, names: Sequence[str]) -> str:
    close = difflib.get_close_matches(name, names, 1)
    return f", did you mean {PREFIX}{close[0]}?" if close else f", it has {', '.join(names)}"


_INTRODUCTION = f"""# Annotations of the simulation

With `--simulate`, these annotations direct the [simulated cluster](controllers.md#the-simulated-cluster). Their prefix
is `{PREFIX}`. Annotations of pods also work in the pod template of a workload. The server warns clients
of unknown annotations, and of values that are not allowed. The simulation ignores such values.

| object | annotation | values | meaning |
| --- | --- | --- | --- |
"""
_SHOWN = {
    "pods": "Pod",
    "nodes": "Node",
    "namespaces": "Namespace",
    "services": "Service, Ingress",
    "persistentvolumeclaims": "PersistentVolumeClaim, StorageClass",
}


def page() -> str:
    """The page of the documentation."""
    rows = [
        f"| {_SHOWN[resource]} | `{one.name}` | {one.form.text} | {one.meaning} |"
        for (_, resource), known in ANNOTATIONS.items()
        if resource in _SHOWN
        for one in known
    ]
    return _INTRODUCTION + "\n".join(rows) + "\n"


if __name__ == "__main__":
    sys.stdout.write(page())
