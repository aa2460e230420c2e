"""Tests PodTemplates, and the templates of replication controllers."""

from aio_apiserver.registry.groups.core.pods.podtemplates import PODTEMPLATES
from aio_apiserver.registry.groups.core.pods.replicationcontrollers import REPLICATIONCONTROLLERS
from tests.registry.defaulted import CONTEXT, created, defaulted, updated

TEMPLATE = {"metadata": {"labels": {"app": "x"}}, "spec": {"containers": [{"name": "c", "image": "nginx:1"}]}}


def test_templates_get_the_defaults_of_pod_specs_but_not_of_pods() -> None:
    spec = defaulted(PODTEMPLATES, {"template": TEMPLATE})["template"]["spec"]

    assert spec["containers"][0]["imagePullPolicy"] == "IfNotPresent"
    assert "enableServiceLinks" not in spec


def test_fields_of_disabled_features_are_dropped_after_defaulting() -> None:
    template = {"spec": {"containers": [{"name": "c", "lifecycle": {"stopSignal": "SIGTERM"}}]}}

    assert "lifecycle" in defaulted(PODTEMPLATES, {"template": template})["template"]["spec"]["containers"][0]
    assert "lifecycle" not in created(PODTEMPLATES, {"template": template})["template"]["spec"]["containers"][0]


def test_generation_of_a_template_grows_with_the_template() -> None:
    old = created(PODTEMPLATES, {"template": TEMPLATE})

    assert updated(PODTEMPLATES, old, {"template": TEMPLATE})["metadata"]["generation"] == 1
    assert updated(PODTEMPLATES, old, {"template": {}})["metadata"]["generation"] == 2


def test_replication_controllers_select_what_their_template_is_labelled() -> None:
    controller = defaulted(REPLICATIONCONTROLLERS, {"spec": {"template": TEMPLATE}})

    assert controller["spec"]["selector"] == {"app": "x"}
    assert controller["metadata"]["labels"] == {"app": "x"}
    assert controller["spec"]["replicas"] == 1


def test_a_generated_name_of_a_replication_controller_is_validated() -> None:
    spec = {"template": TEMPLATE}
    controller = created(REPLICATIONCONTROLLERS, {"metadata": {"generateName": "A_", "name": "a"}, "spec": spec})
    controller["metadata"]["namespace"] = "default"

    assert REPLICATIONCONTROLLERS.strategy.validate(CONTEXT, controller) == []
    controller["metadata"]["name"] = "x" * 254
    (error,) = REPLICATIONCONTROLLERS.strategy.validate(CONTEXT, controller)
    assert error.detail == "must be no more than 253 bytes"


def test_a_replication_controller_may_have_no_template() -> None:
    assert defaulted(REPLICATIONCONTROLLERS, {"spec": {}})["spec"] == {"replicas": 1}
