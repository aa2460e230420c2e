"""Container contents: the environment and the mounted files of a simulated container.

Pure. The annotation `simulate.aio-apiserver/files` of a pod adds files: a JSON map of paths and texts. Must hold: each
variable and each file is paid before it is made. All functions with a budget raise BudgetExceeded.
"""

import base64
import json
import posixpath
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from aio_apiserver.base.budget import Budget, BudgetLimits
from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import objects
from aio_apiserver.simulation.model.annotations import PREFIX

_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
Data = Mapping[str, bytes]
LIMITS = BudgetLimits(steps=20_000, bytes_made=16 * 1024 * 1024)
"""The variables and files of a container."""
_BYTES_OF_A_NAME = 128
"""What a variable or a file takes beside its name and its contents."""


class Sources(Struct, frozen=True):
    """The data of ConfigMaps and Secrets by name."""

    config_maps: Mapping[str, Data]
    secrets: Mapping[str, Data]


def data_of(obj: Object | None, budget: Budget, *, is_secret: bool) -> Data:
    """The data of a ConfigMap or a Secret."""
    if obj is None:
        return {}
    for member in ("data", "binaryData"):
        for name, text in (obj.get(member) or {}).items():
            _pay(budget, name, text)
    plain = {} if is_secret else {name: str(text).encode() for name, text in (obj.get("data") or {}).items()}
    encoded = obj.get("data") if is_secret else obj.get("binaryData")
    return {**plain, **{name: base64.b64decode(text) for name, text in (encoded or {}).items()}}


def _pay(budget: Budget, name: str, contents: str | bytes) -> None:
    """Pay for a variable or a file."""
    budget.spend(1 + name.count("/"))
    budget.make(_BYTES_OF_A_NAME + len(name) * (1 + name.count("/")) + len(contents))


def names_in(pod: Object) -> tuple[set[str], set[str]]:
    """The names of the ConfigMaps and Secrets that a pod uses."""
    parts = [*_volume_parts(pod), *_variable_parts(pod)]
    return _names(parts, ("configMap", "configMapRef", "configMapKeyRef")), _names(
        parts, ("secret", "secretRef", "secretKeyRef")
    )


def _names(parts: Iterable[Mapping[str, Any]], members: Iterable[str]) -> set[str]:
    """The names in references."""
    references = [part.get(member) or {} for part in parts for member in members]
    return {name for one in references if (name := _name(one))}


def _name(reference: Mapping[str, Any]) -> str:
    return reference.get("secretName") or reference.get("name") or ""


def _variable_parts(pod: Object) -> Iterator[Mapping[str, Any]]:
    """The sources of environment variables."""
    for container in containers_of(pod):
        yield from container.get("envFrom") or ()
        yield from (env.get("valueFrom") or {} for env in container.get("env") or ())


def containers_of(pod: Object) -> Iterator[Object]:
    """The containers of a pod, init containers first."""
    for member in ("initContainers", "containers", "ephemeralContainers"):
        yield from pod["spec"].get(member) or ()


def container_of(pod: Object, name: str) -> Object | None:
    """The container of a name."""
    return next((one for one in containers_of(pod) if one["name"] == name), None)


def _volume_parts(pod: Object) -> Iterator[Mapping[str, Any]]:
    for volume in pod["spec"].get("volumes") or ():
        yield from [volume, *((volume.get("projected") or {}).get("sources") or ())]


def environment(pod: Object, container: Object, sources: Sources, budget: Budget) -> dict[str, str]:
    """The environment variables of a simulated container."""
    env = {"PATH": _PATH, "HOSTNAME": hostname(pod), "HOME": "/root"}
    env.update({"KUBERNETES_SERVICE_HOST": "kubernetes.default.svc", "KUBERNETES_SERVICE_PORT": "443"})
    return {**env, **variables(pod, container, sources, budget)}


def variables(pod: Object, container: Object, sources: Sources, budget: Budget) -> dict[str, str]:
    """The environment variables that a container names."""
    env: dict[str, str] = {}
    for one in container.get("envFrom") or ():
        prefix = one.get("prefix") or ""
        for member, data in (("configMapRef", sources.config_maps), ("secretRef", sources.secrets)):
            for name, value in data.get((one.get(member) or {}).get("name", ""), {}).items():
                _pay(budget, prefix + name, value)
                env[prefix + name] = value.decode(errors="replace")
    for one in container.get("env") or ():
        env[one["name"]] = text = _value(pod, one, sources)
        _pay(budget, one["name"], text)
    return env


def with_fields(pod: Object, container: Object) -> Object:
    """A container whose variables have the values of the pod's fields that they name."""
    variables = container.get("env") or ()
    if not any((one.get("valueFrom") or {}).get("fieldRef") for one in variables):
        return container
    return {**container, "env": [_with_field(pod, one) for one in variables]}


def _with_field(pod: Object, variable: Mapping[str, Any]) -> Mapping[str, Any]:
    field = (variable.get("valueFrom") or {}).get("fieldRef")
    return {"name": variable["name"], "value": field_of(pod, field["fieldPath"])} if field else variable


def hostname(pod: Object) -> str:
    return str(pod["spec"].get("hostname") or pod["metadata"]["name"])


def _value(pod: Object, variable: Mapping[str, Any], sources: Sources) -> str:
    given = variable.get("valueFrom")
    if not given:
        return str(variable.get("value") or "")
    for member, data in (("configMapKeyRef", sources.config_maps), ("secretKeyRef", sources.secrets)):
        if reference := given.get(member):
            return data.get(reference.get("name", ""), {}).get(reference["key"], b"").decode(errors="replace")
    return field_of(pod, (given.get("fieldRef") or {}).get("fieldPath", ""))


def field_of(pod: Object, path: str) -> str:
    """A field of the pod as the downward API shows it."""
    base, _, key = path.partition("['")
    value: Any = objects.get(pod, base, "") if path else ""
    if key:
        return str((value or {}).get(key.removesuffix("']"), ""))
    if isinstance(value, dict):
        return "".join(f"{name}={json.dumps(text)}\n" for name, text in sorted(value.items()))
    return str(value or "")


def mounts(pod: Object, container: Object, sources: Sources, budget: Budget) -> dict[str, bytes]:
    """The files of a simulated container by path."""
    files = {
        "/etc/hostname": f"{hostname(pod)}\n".encode(),
        "/etc/hosts": b"127.0.0.1\tlocalhost\n",
        "/etc/resolv.conf": b"search default.svc.cluster.local svc.cluster.local cluster.local\n",
    }
    return {**files, **mounted(pod, container, sources, budget), **_annotated(pod, budget)}


def mounted(pod: Object, container: Object, sources: Sources, budget: Budget) -> dict[str, bytes]:
    """The files of a container's volumes by path."""
    volumes = {one["name"]: one for one in pod["spec"].get("volumes") or ()}
    files: dict[str, bytes] = {}
    for mount in container.get("volumeMounts") or ():
        volume, inside = volumes.get(mount["name"], {}), mount.get("subPath") or ""
        for name, data in _volume_files(pod, volume, sources):
            path = mount["mountPath"] if inside else posixpath.join(mount["mountPath"], name)
            _pay(budget, path, data)
            if name == inside or not inside:
                files[path] = data
    return files


def _annotated(pod: Object, budget: Budget) -> dict[str, bytes]:
    text = (pod["metadata"].get("annotations") or {}).get(f"{PREFIX}files", "")
    try:
        given = json.loads(text) if text else {}
    except (ValueError, RecursionError):
        return {}
    files = given.items() if isinstance(given, dict) else ()
    for path, contents in files:
        _pay(budget, path, str(contents))
    return {path: str(contents).encode(errors="replace") for path, contents in files}


def _volume_files(pod: Object, volume: Mapping[str, Any], sources: Sources) -> Iterator[tuple[str, bytes]]:
    for part in [volume, *((volume.get("projected") or {}).get("sources") or ())]:
        for member, data in (("configMap", sources.config_maps), ("secret", sources.secrets)):
            if reference := part.get(member):
                yield from _keys(reference, data.get(_name(reference), {}))
        if part.get("serviceAccountToken"):
            yield part["serviceAccountToken"].get("path", "token"), b"simulated"
        for item in (part.get("downwardAPI") or {}).get("items") or ():
            yield item["path"], field_of(pod, (item.get("fieldRef") or {}).get("fieldPath", "")).encode()


def _keys(source: Mapping[str, Any], data: Data) -> Iterator[tuple[str, bytes]]:
    items = source.get("items")
    if not items:
        yield from data.items()
    for item in items or ():
        if item["key"] in data:
            yield item["path"], data[item["key"]]
