from collections.abc import Iterator

import kubernetes
import pytest

from aio_apiserver.testing import Refused, Server
from tests.testing.objects import CONFIG_MAPS, names

ROLES = """
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: reader, namespace: default}
rules: [{apiGroups: [""], resources: [configmaps], verbs: [list]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: reader, namespace: default}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: reader}
subjects:
- {kind: ServiceAccount, name: operator, namespace: ops}
- {apiGroup: rbac.authorization.k8s.io, kind: Group, name: readers}
"""
OPERATOR = "system:serviceaccount:ops:operator"


@pytest.fixture(scope="module")
def guarded() -> Iterator[Server]:
    """A server with RBAC."""
    with Server(authorization_mode=("RBAC",), manifests=[ROLES]) as server:
        yield server


@pytest.mark.parametrize("user", [(OPERATOR,), ("jane", "others", "readers")])
def test_users_may_do_what_their_roles_say(guarded: Server, user: tuple[str, ...]) -> None:
    with guarded.user(*user).client() as client:
        assert names(client) == []
        with pytest.raises(Refused, match=f'User "{user[0]}" cannot create resource "configmaps"'):
            client.request("POST", CONFIG_MAPS, {"metadata": {"name": "web"}})

    assert guarded.requests.matching(user=user[0], status=403) == ["create configmaps default/"]


def test_clients_of_libraries_are_those_of_the_user(guarded: Server) -> None:
    with guarded.user("nobody").clients.kubernetes() as api:
        core = kubernetes.client.CoreV1Api(api)
        with pytest.raises(kubernetes.client.ApiException) as refusal:
            core.list_namespaced_config_map("default")

    assert refusal.value.status == 403
