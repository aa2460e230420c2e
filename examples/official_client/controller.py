"""A controller with the official client. It writes a config map and the status of each Greeting."""

import threading
from typing import Any

from kubernetes import client, watch

GROUP, VERSION, PLURAL = "example.com", "v1", "greetings"
LABEL = "example.com/greeting"
_GONE = 410

Greeting = dict[str, Any]


def name_of(found: client.V1ConfigMap) -> str:
    """The name of a stored config map."""
    assert found.metadata is not None
    return str(found.metadata.name)


class Controller:
    """Reconciles the greetings of one namespace."""

    def __init__(self, api: client.ApiClient, namespace: str = "default") -> None:
        self._core = client.CoreV1Api(api)
        self._custom = client.CustomObjectsApi(api)
        self._namespace = namespace

    def run(self, stop: threading.Event) -> None:
        """Reconcile until `stop` is set. After the end of a watch the controller lists again."""
        while not stop.is_set():
            version = self.resync()
            try:
                self._follow(version, stop)
            except client.ApiException as exc:
                if exc.status != _GONE:
                    raise

    def resync(self) -> str:
        """Reconcile all greetings. Returns the resource version of the list."""
        listed: Any = self._custom.list_namespaced_custom_object(GROUP, VERSION, self._namespace, PLURAL)
        for greeting in listed["items"]:
            self.sync(greeting)
        self._remove_all_but({greeting["metadata"]["name"] for greeting in listed["items"]})
        version: str = listed["metadata"]["resourceVersion"]
        return version

    def sync(self, greeting: Greeting) -> None:
        """Reconcile one greeting."""
        name = greeting["metadata"]["name"]
        text = f"Hello, {greeting['spec']['who']}!"
        metadata = client.V1ObjectMeta(name=name, labels={LABEL: name})
        wanted = client.V1ConfigMap(metadata=metadata, data={"text": text})
        try:
            self._core.create_namespaced_config_map(self._namespace, wanted)
        except client.ApiException as exc:
            if exc.reason != "Conflict":
                raise
            self._core.patch_namespaced_config_map(name, self._namespace, wanted)
        if greeting.get("status", {}).get("text") != text:
            self._custom.patch_namespaced_custom_object_status(
                GROUP, VERSION, self._namespace, PLURAL, name, {"status": {"text": text}}
            )

    def remove(self, name: str) -> None:
        """Delete the config map of a deleted greeting."""
        try:
            self._core.delete_namespaced_config_map(name, self._namespace)
        except client.ApiException as exc:
            if exc.reason != "Not Found":
                raise

    def _remove_all_but(self, names: set[str]) -> None:
        for found in self._core.list_namespaced_config_map(self._namespace, label_selector=LABEL).items:
            name = name_of(found)
            if name not in names:
                self.remove(name)

    def _follow(self, version: str, stop: threading.Event) -> None:
        stream: Any = watch.Watch  # it has no type annotations
        listing = self._custom.list_namespaced_custom_object
        for event in stream().stream(
            listing, GROUP, VERSION, self._namespace, PLURAL, resource_version=version, timeout_seconds=5
        ):
            if stop.is_set():
                return
            if event["type"] == "DELETED":
                self.remove(event["object"]["metadata"]["name"])
            else:
                self.sync(event["object"])
