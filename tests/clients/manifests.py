"""What the clients create: plain objects, which each client turns into its own."""

from typing import Any

JSON = dict[str, Any]


def config_map(name: str, data: dict[str, str] | None = None, labels: dict[str, str] | None = None) -> JSON:
    metadata = {"name": name, "labels": labels} if labels else {"name": name}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data or {}}


def deployment(name: str, replicas: int = 1) -> JSON:
    labels = {"app": name}
    containers = [{"name": "web", "image": "nginx:1"}, {"name": "helper", "image": "busybox:1"}]
    template = {"metadata": {"labels": labels}, "spec": {"containers": containers}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "labels": labels},
        "spec": {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template},
    }
