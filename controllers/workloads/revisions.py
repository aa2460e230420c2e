"""Revisions: the ControllerRevisions of a StatefulSet or DaemonSet, which keep old templates.

Pure.
"""

from collections.abc import Iterable, Sequence

import orjson

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.runtime.pods import controller_reference
from aio_apiserver.controllers.workloads.rollouts import template_hash

LABEL = "controller-revision-hash"


def data_of(owner: Object) -> Object:
    """The data of a revision: the template of the owner. Clients compare its bytes, so the keys are in Go's order."""
    data = {"spec": {"template": {**owner["spec"]["template"], "$patch": "replace"}}}
    found: Object = orjson.loads(orjson.dumps(data, option=orjson.OPT_SORT_KEYS))
    return found


def find(owner: Object, every: Iterable[Object]) -> Object | None:
    """The newest revision with the present template."""
    wanted = data_of(owner)
    same = [one for one in every if one.get("data") == wanted]
    return max(same, key=lambda one: int(one["revision"]), default=None)


def next_number(every: Iterable[Object]) -> int:
    return 1 + max((int(one["revision"]) for one in every), default=0)


def make(owner: Object, every: Iterable[Object], api_version: str, kind: str) -> Object:
    """A new revision of the present template."""
    name = template_hash(owner["spec"]["template"], (owner.get("status") or {}).get("collisionCount"))
    labels = dict((owner["spec"]["template"].get("metadata") or {}).get("labels") or {})
    return {
        "metadata": {
            "name": f"{owner['metadata']['name']}-{name}",
            "labels": {**labels, LABEL: name},
            "ownerReferences": [controller_reference(owner, api_version, kind)],
        },
        "data": data_of(owner),
        "revision": next_number(every),
    }


def superfluous(owner: Object, every: Sequence[Object], live: Iterable[str]) -> list[Object]:
    """The unused revisions above the history limit."""
    used = set(live)
    idle = sorted(
        (
            one
            for one in every
            if one["metadata"]["name"] not in used and one["metadata"]["labels"].get(LABEL) not in used
        ),
        key=lambda one: int(one["revision"]),
    )
    limit = owner["spec"].get("revisionHistoryLimit")
    return idle[: max(0, len(idle) - (10 if limit is None else int(limit)))]


def template_of(revision: Object) -> Object:
    """The template in a revision."""
    template = dict(revision["data"]["spec"]["template"])
    template.pop("$patch", None)
    return template
