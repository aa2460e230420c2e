"""Resources that need a quota to be used at all."""

from typing import Any

import pytest

from aio_apiserver.registry.base.names import GroupResource
from aio_apiserver.registry.plugins.quota import limited_resources
from aio_apiserver.registry.plugins.quota.claims import VolumeClaims
from aio_apiserver.registry.plugins.quota.pods import Pods
from tests.registry.plugins.admission.writes import write
from tests.registry.plugins.quota.test_charging import NOW, pod, quota

CLAIMS = GroupResource("", "persistentvolumeclaims")
HIGH = {"scopeName": "PriorityClass", "operator": "In", "values": ["high"]}
PRIORITIES = limited_resources.configured({"limitedResources": [{"resource": "pods", "matchScopes": [HIGH]}]})
STORAGE = limited_resources.configured(
    {"limitedResources": [{"resource": "persistentvolumeclaims", "matchContains": ["requests.storage"]}]}
)
CLAIM = {"metadata": {}, "spec": {"resources": {"requests": {"storage": "1Gi"}}}}


@pytest.mark.parametrize(
    ("quotas", "why"),
    [
        ([], "insufficient quota to consume: requests.storage"),
        ([quota({"persistentvolumeclaims": "1"})], "insufficient quota to consume: requests.storage"),
        ([quota({"requests.storage": "5Gi"})], ""),
    ],
)
def test_what_is_limited_needs_a_quota_that_limits_it(quotas: list[dict[str, Any]], why: str) -> None:
    attributes = write(CLAIM, resource=CLAIMS)

    assert limited_resources.why_uncovered(STORAGE, quotas, VolumeClaims(), attributes, now=NOW) == why


@pytest.mark.parametrize(
    ("quotas", "why"),
    [
        ([quota({"pods": "1"})], "insufficient quota to match these scopes: [{PriorityClass In [high]}]"),
        ([quota({"pods": "1"}, scopeSelector={"matchExpressions": [HIGH]})], ""),
    ],
)
def test_pods_in_a_limited_scope_need_a_quota_with_that_scope(quotas: list[dict[str, Any]], why: str) -> None:
    attributes = write(pod(priorityClassName="high"))

    assert limited_resources.why_uncovered(PRIORITIES, quotas, Pods(), attributes, now=NOW) == why


def test_pods_in_no_limited_scope_need_none() -> None:
    assert limited_resources.why_uncovered(PRIORITIES, [], Pods(), write(pod(priorityClassName="low")), now=NOW) == ""


def test_a_limit_of_nothing_is_no_configuration() -> None:
    with pytest.raises(ValueError, match=r"limitedResources\[0\].resource: Required value"):
        limited_resources.configured({"limitedResources": [{"matchContains": ["cpu"]}]})
