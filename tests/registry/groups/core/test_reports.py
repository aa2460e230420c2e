"""Tests status updates that leave out labels or most of the object."""

from typing import Any

import pytest

from aio_apiserver.registry.base.errors import Invalid
from aio_apiserver.registry.generic import preparation
from aio_apiserver.registry.generic.access.users import ANONYMOUS
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.rest import Request
from aio_apiserver.registry.groups.batch.jobs import JOBS
from aio_apiserver.registry.groups.core.pods.replicationcontrollers import REPLICATIONCONTROLLERS
from aio_apiserver.registry.groups.core.services.services import SERVICES
from tests.registry.defaulted import CONTEXT, defaulted

REQUEST = Request(user=ANONYMOUS, version="v1", warn=lambda _text: None, namespace="n")


@pytest.mark.parametrize("kind", [JOBS, REPLICATIONCONTROLLERS], ids=lambda kind: kind.plural)
def test_a_status_update_without_labels_gets_the_labels_of_the_template(kind: Kind) -> None:
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    obj: dict[str, Any] = {"metadata": {"name": "a"}, "spec": {"template": template}}

    assert kind.status_strategy is not None
    kind.status_strategy.canonicalize(obj)

    assert obj["metadata"]["labels"] == {"a": "b"}


def test_a_status_update_of_a_missing_service_creates_one_without_addresses() -> None:
    strategy = SERVICES.status_strategy
    assert strategy is not None
    assert strategy.allows_create_on_update
    elsewhere = defaulted(SERVICES, {"spec": {"type": "ExternalName", "externalName": "a.b"}, "status": {"x": 1}})
    here = defaulted(SERVICES, {"spec": {"clusterIP": "None", "ports": [{"port": 80}]}})

    preparation.before_create(SERVICES, strategy, request=REQUEST, obj=elsewhere, context=CONTEXT)

    assert "status" not in elsewhere
    with pytest.raises(Invalid, match=r"spec\.clusterIPs: Required value"):
        preparation.before_create(SERVICES, strategy, request=REQUEST, obj=here, context=CONTEXT)
