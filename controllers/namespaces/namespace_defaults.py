"""Namespace defaults: makes the service account `default` and the configmap `kube-root-ca.crt` in every namespace."""

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.runtime.client import key_of
from aio_apiserver.controllers.runtime.controller import Controller
from aio_apiserver.controllers.runtime.resources import CONFIG_MAPS, NAMESPACES, SERVICE_ACCOUNTS
from aio_apiserver.registry.groups.core.namespaces.namespaces import ACTIVE

_DEFAULT = "default"
_ROOT_CA = "kube-root-ca.crt"
_DESCRIPTION = "kubernetes.io/description"
_WHAT_FOR = (
    "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the "
    "internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes "
    "clusters."
)


def _namespace_of(name: str, obj: Object) -> str:
    """The namespace of an object with this name."""
    return str(obj["metadata"]["namespace"]) if obj["metadata"]["name"] == name else ""


class ServiceAccountController(Controller):
    """Makes the service account `default`."""

    name = "serviceaccount-controller"
    account = "service-account-controller"

    def begin(self) -> None:
        self._namespaces = self.follow(NAMESPACES, key_of)
        self._accounts = self.follow(SERVICE_ACCOUNTS, lambda obj: _namespace_of(_DEFAULT, obj))

    async def reconcile(self, key: str) -> float | None:
        namespace = self._namespaces.get(key)
        if namespace is None or namespace["status"].get("phase") != ACTIVE:
            return None
        if self._accounts.get(f"{key}/{_DEFAULT}") is None:
            await self.client.create(SERVICE_ACCOUNTS, {"metadata": {"name": _DEFAULT}}, namespace=key)
        return None


class RootCertificatePublisher(Controller):
    """Keeps the configmap `kube-root-ca.crt`."""

    name = "root-ca-certificate-publisher-controller"
    account = "root-ca-cert-publisher"

    def begin(self) -> None:
        self._namespaces = self.follow(NAMESPACES, key_of)
        self._config_maps = self.follow(CONFIG_MAPS, lambda obj: _namespace_of(_ROOT_CA, obj))
        self._tasks.spawn(self._follow_rotation(), name=self.name)

    async def reconcile(self, key: str) -> float | None:
        namespace = self._namespaces.get(key)
        if namespace is None or namespace["status"].get("phase") != ACTIVE:
            return None
        present = self._config_maps.get(f"{key}/{_ROOT_CA}")
        if present is None:
            await self.client.create(CONFIG_MAPS, self._config_map(), namespace=key)
        elif not self._is_right(present):
            await self.client.change(CONFIG_MAPS, present, self._mend)
        return None

    async def _follow_rotation(self) -> None:
        """Publish each new bundle in all namespaces."""
        while True:
            await self.desk.root_certificates.wait_until_replaced()
            for namespace in self._namespaces.items:
                self.queue.add(namespace)

    def _config_map(self) -> Object:
        metadata = {"name": _ROOT_CA, "annotations": {_DESCRIPTION: _WHAT_FOR}}
        return {"metadata": metadata, "data": self._data}

    @property
    def _data(self) -> Object:
        return {"ca.crt": self.desk.root_certificates.bundle}

    def _is_right(self, present: Object) -> bool:
        annotations = present["metadata"].get("annotations") or {}
        return present.get("data") == self._data and bool(annotations.get(_DESCRIPTION))

    def _mend(self, obj: Object) -> None:
        obj["data"] = self._data
        obj["metadata"]["annotations"] = {**(obj["metadata"].get("annotations") or {}), _DESCRIPTION: _WHAT_FOR}
