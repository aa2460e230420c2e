"""Policies: valid ones are read, invalid ones are refused, and the first matching rule counts."""

import re
from typing import Any

import pytest

from aio_apiserver.registry.generic.access.authorizer import Attributes
from aio_apiserver.registry.generic.access.users import UserInfo
from aio_apiserver.registry.generic.audit import policy_files
from aio_apiserver.registry.generic.audit.levels import Level, Stage

ALICE = UserInfo(name="alice", groups=("devs", "system:authenticated"))
LIST_PODS = Attributes(ALICE, "list", "", "v1", "pods", namespace="a")
GET_LOG = Attributes(ALICE, "get", "", "v1", "pods", "log", "a", "one")
GET_NODE = Attributes(ALICE, "get", "", "v1", "nodes", name="n")
SCALE = Attributes(ALICE, "update", "apps", "v1", "deployments", "scale", "b", "web")
HEALTH = Attributes(ALICE, "get", path="/healthz/etcd", is_resource=False)
ASKED = {"list": LIST_PODS, "log": GET_LOG, "node": GET_NODE, "scale": SCALE, "health": HEALTH}


def level_of(asked: Attributes, *rules: dict[str, Any]) -> Level:
    return policy_files.read({"rules": list(rules)}).recording_of(asked).level


@pytest.mark.parametrize(
    ("rule", "fitting"),
    [
        ({}, {"list", "log", "node", "scale", "health"}),
        ({"users": ["bob"]}, set()),
        ({"users": ["alice"], "verbs": ["get"]}, {"log", "node", "health"}),
        ({"userGroups": ["ops", "devs"], "namespaces": ["a"]}, {"list", "log"}),
        ({"namespaces": [""]}, {"node"}),
        ({"resources": [{}]}, {"list", "log", "node"}),
        ({"resources": [{"group": "*"}]}, {"list", "log", "node", "scale"}),
        ({"resources": [{"resources": ["pods"]}]}, {"list"}),
        ({"resources": [{"resources": ["pods/*"]}]}, {"list", "log"}),
        ({"resources": [{"resources": ["pods/log"], "resourceNames": ["two"]}]}, set()),
        ({"resources": [{"resources": ["pods/log"], "resourceNames": ["one"]}]}, {"log"}),
        ({"resources": [{"group": "*", "resources": ["*/scale"]}]}, {"scale"}),
        ({"resources": [{"group": "apps", "resources": ["*"]}]}, {"scale"}),
        ({"nonResourceURLs": ["/healthz*"]}, {"health"}),
        ({"nonResourceURLs": ["/healthz"]}, set()),
        ({"nonResourceURLs": ["*"]}, {"health"}),
    ],
)
def test_a_rule_fits_what_it_names(rule: dict[str, Any], fitting: set[str]) -> None:
    found = {name for name, asked in ASKED.items() if level_of(asked, {"level": "Request", **rule}) is Level.REQUEST}

    assert found == fitting


def test_the_first_rule_that_fits_counts() -> None:
    rules = ({"level": "None", "verbs": ["list"]}, {"level": "RequestResponse"})

    assert level_of(LIST_PODS, *rules) is Level.NONE
    assert level_of(GET_LOG, *rules) is Level.REQUEST_RESPONSE


def test_what_all_rules_leave_out_adds_to_what_one_leaves_out() -> None:
    rule = {"level": "Metadata", "omitStages": ["ResponseStarted"], "omitManagedFields": False}
    policy = policy_files.read({"omitStages": ["RequestReceived"], "omitManagedFields": True, "rules": [rule]})

    recording = policy.recording_of(LIST_PODS)

    assert recording.omitted_stages == {Stage.REQUEST_RECEIVED, Stage.RESPONSE_STARTED}
    assert not recording.omits_managed_fields


@pytest.mark.parametrize(
    ("written", "complaint"),
    [
        ({}, "loaded illegal policy with 0 rules"),
        ({"rules": [{}]}, "rules[0].level: Required value"),
        (
            {"rules": [{"level": "All"}]},
            'rules[0].level: Unsupported value: "All": supported values: '
            '"None", "Metadata", "Request", "RequestResponse"',
        ),
        (
            {"rules": [{"level": "None", "nonResourceURLs": ["x*y"]}]},
            """[rules[0].nonResourceURLs[0]: Invalid value: "x*y": non-resource URL rules must begin with a '/' """
            """character, rules[0].nonResourceURLs[0]: Invalid value: "x*y": non-resource URL wildcards '*' must be """
            "the final character of the rule]",
        ),
        (
            {"rules": [{"level": "None", "nonResourceURLs": ["/x"], "namespaces": ["a"]}]},
            'rules[0].nonResourceURLs: Invalid value: ["/x"]: rules cannot apply to both regular resources and '
            "non-resource URLs",
        ),
        (
            {"rules": [{"level": "None", "resources": [{"resourceNames": ["a"]}]}]},
            'rules[0].resources.resourceNames: Invalid value: ["a"]: using resourceNames requires at least one '
            "resource",
        ),
        (
            {"omitStages": ["Never"], "rules": [{"level": "None"}]},
            'omitStages[0]: Invalid value: "Never": allowed stages are '
            "RequestReceived,ResponseStarted,ResponseComplete,Panic",
        ),
        ({"rules": [{"level": "None", "users": "alice"}]}, "rules[0].users must be a list of strings"),
        ({"rules": ["None"]}, "rules must be a list of maps"),
    ],
)
def test_what_makes_no_sense_is_refused(written: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(complaint)}$"):
        policy_files.read(written)


def test_unknown_fields_are_named_with_their_places() -> None:
    written = {"ruls": 1, "rules": [{"level": "None", "user": 1, "resources": [{"names": 1}]}]}

    assert list(policy_files.unknown_fields(written)) == ["ruls", "rules[0].user", "rules[0].resources[0].names"]
