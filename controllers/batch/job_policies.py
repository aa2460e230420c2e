"""Job policies: the pod failure policy and the success policy of a Job.

Pure.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.batch.indexes import Indexes, parse
from aio_apiserver.controllers.runtime import pods


class Match(Struct, frozen=True):
    """The action for a failed pod, and the message about it."""

    action: str
    message: str = ""


_NO_RULE = Match("Count")


def match(job: Object, pod: Object) -> Match:
    """The first matching rule of the pod failure policy; `Count` when none matches."""
    for index, rule in enumerate((job["spec"].get("podFailurePolicy") or {}).get("rules") or ()):
        action = rule["action"]
        end = f"matching {action} rule at index {index}"
        name = f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
        if rule.get("onExitCodes") is not None:
            container = _with_exit_code(pod, rule["onExitCodes"])
            if container is not None:
                code = container["state"]["terminated"]["exitCode"]
                return Match(action, f"Container {container['name']} for pod {name} failed with exit code {code} {end}")
        elif condition := _with_condition(pod, rule.get("onPodConditions") or ()):
            return Match(action, f"Pod {name} has condition {condition} {end}")
    return _NO_RULE


def _with_exit_code(pod: Object, demand: Mapping[str, Any]) -> Object | None:
    status = pod.get("status") or {}
    for name in ("containerStatuses", "initContainerStatuses"):
        for container in status.get(name) or ():
            ended = (container.get("state") or {}).get("terminated")
            is_named = demand.get("containerName") in (None, container["name"])
            if ended is None or not is_named or not ended.get("exitCode"):
                continue
            if (ended["exitCode"] in demand["values"]) is (demand["operator"] == "In"):
                found: Object = container
                return found
    return None


def _with_condition(pod: Object, patterns: Iterable[Mapping[str, str]]) -> str:
    wanted = {(one["type"], one.get("status", "True")) for one in patterns}
    for one in (pod.get("status") or {}).get("conditions") or ():
        if (one["type"], one.get("status")) in wanted:
            return str(one["type"])
    return ""


def is_ignored(job: Object, pod: Object) -> bool:
    """Whether the failure policy ignores the failure of a pod."""
    return pods.phase(pod) == "Failed" and match(job, pod).action == "Ignore"


def failure(job: Object, owned: Iterable[Object]) -> str:
    """The message when the failure of one pod fails the job; empty otherwise."""
    for pod in owned:
        found = match(job, pod) if pods.phase(pod) == "Failed" else _NO_RULE
        if found.action == "FailJob":
            return found.message
    return ""


def success(job: Object, done: Indexes) -> str:
    """The message when the succeeded indexes satisfy the success policy; empty otherwise."""
    for number, rule in enumerate((job["spec"].get("successPolicy") or {}).get("rules") or () if done else ()):
        wanted, enough = rule.get("succeededIndexes"), rule.get("succeededCount")
        among = done.among(parse(wanted)) if wanted is not None else done
        is_all = wanted is not None and len(among) == len(parse(wanted))
        if is_all or (enough is not None and len(among) >= enough):
            return f"Matched rules at index {number}"
    return ""
