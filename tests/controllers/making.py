"""Objects for tests of the decisions of controllers."""

from typing import Any

from msgspec.structs import replace

from aio_apiserver.base.budget import Budget
from aio_apiserver.base.unstructured import Object
from aio_apiserver.simulation.kubelet import pod_courses
from aio_apiserver.simulation.kubelet.pod_phases import Life

NOW = "2026-01-01T00:01:00Z"
BEFORE = "2026-01-01T00:00:00Z"
CLOCK = 1767225660.0
"""NOW as a number."""


def obj(name: str, *, uid: str = "", namespace: str = "default", **metadata: Any) -> Object:
    given = {"name": name, "uid": uid or name, "creationTimestamp": BEFORE, "resourceVersion": "1", **metadata}
    return {"metadata": {"namespace": namespace, **given} if namespace else given}


def pod(name: str, *, phase: str = "Running", ready: bool = True, node: str = "", **metadata: Any) -> Object:
    made = obj(name, **metadata)
    made["spec"] = {"containers": [{"name": "a", "image": "b"}], **({"nodeName": node} if node else {})}
    condition = {"type": "Ready", "status": "True" if ready else "False", "lastTransitionTime": BEFORE}
    made["status"] = {"phase": phase, "conditions": [condition]}
    return made


def life(pod: Object, *given: Any) -> Life:
    """The life of a pod whose programs are judged."""
    return replace(Life(pod, *given), courses=pod_courses.of_pod(pod, Budget(pod_courses.JUDGED)))


def owned(made: Object, uid: str, **reference: Any) -> Object:
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": uid, "uid": uid, **reference}
    made["metadata"].setdefault("ownerReferences", []).append(reference)
    return made


def template(image: str = "nginx", **metadata: Any) -> Object:
    return {
        "metadata": {"labels": {"app": "web"}, **metadata},
        "spec": {"containers": [{"name": "a", "image": image}], "restartPolicy": "Always"},
    }


def workload(name: str, replicas: int, *, image: str = "nginx", **spec: Any) -> Object:
    """A deployment, replica set or stateful set."""
    made = obj(name, generation=1)
    made["spec"] = {
        "replicas": replicas,
        "selector": {"matchLabels": {"app": "web"}},
        "template": template(image),
        **spec,
    }
    return made
