import pytest

from aio_apiserver.registry.base.names import GroupResource
from aio_apiserver.registry.plugins.admission.matching import is_beyond_policies
from tests.registry.plugins.admission.writes import write


@pytest.mark.parametrize(
    ("group", "resource", "expected"),
    [
        ("admissionregistration.k8s.io", "validatingadmissionpolicies", True),
        ("admissionregistration.k8s.io", "mutatingadmissionpolicybindings", True),
        ("admissionregistration.k8s.io", "validatingwebhookconfigurations", False),
        ("authentication.k8s.io", "selfsubjectreviews", True),
        ("authorization.k8s.io", "subjectaccessreviews", True),
        ("", "pods", False),
        ("", "bindings", False),
    ],
)
def test_policies_have_no_say_in_themselves_and_in_questions(group: str, resource: str, expected: bool) -> None:
    assert is_beyond_policies(write({}, resource=GroupResource(group, resource))) is expected
