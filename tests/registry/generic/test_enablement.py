import pytest

from aio_apiserver.registry.generic.enablement import Enablement, parse
from aio_apiserver.registry.machinery.schema import builtin

CIDRS = ("networking.k8s.io", "v1beta1", "servicecidrs")


def test_without_a_word_all_but_alpha_and_beta_is_served() -> None:
    nothing = Enablement()

    assert nothing.has("apps", "v1", "deployments")
    assert not nothing.has(*CIDRS)


@pytest.mark.parametrize(
    ("given", "is_served"),
    [
        ({"api/beta": "true"}, True),
        ({"api/all": "true"}, True),
        ({"api/all": "true", "api/beta": "false"}, False),
        ({"networking.k8s.io/v1beta1": ""}, True),
        ({"networking.k8s.io/v1beta1": "true", "networking.k8s.io/v1beta1/servicecidrs": "false"}, False),
        ({"api/beta": "false", "networking.k8s.io/v1beta1/servicecidrs": "1"}, True),
        ({"networking.k8s.io/v1beta1/ipaddresses": "true"}, False),
    ],
)
def test_the_closest_word_counts(given: dict[str, str], is_served: bool) -> None:
    found = parse(given, builtin().versions)

    assert found.has(*CIDRS) is is_served


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"api/all": "false"}, "invalid runtime-config with only api/all=false"),
        ({"api/beta": "maybe"}, "invalid value api/beta=maybe"),
        ({"v1": "true"}, "runtime-config invalid key v1"),
        ({"foo/v1": "true", "bar/v1": "true"}, "unknown api groups bar/v1,foo/v1"),
        ({"apps/v7": "true"}, "group version apps/v7 that has not been registered"),
        (
            {"apps/v1": "maybe"},
            'invalid value of apps/v1: maybe, err: strconv.ParseBool: parsing "maybe": invalid syntax',
        ),
        (
            {"apps/v1/Deployments": "true"},
            "invalid key apps/v1/Deployments: group/version/resource and resource is always lowercase plural, "
            'not "Deployments"',
        ),
    ],
)
def test_what_makes_no_sense_is_refused_in_the_words_of_kube_apiserver(given: dict[str, str], complaint: str) -> None:
    with pytest.raises(ValueError, match=r"^") as raised:
        parse(given, builtin().versions)

    assert str(raised.value) == complaint


def test_versions_that_this_server_does_not_have_are_named() -> None:
    found = parse({"resource.k8s.io/v1alpha3": "true", "resource.k8s.io/v1beta2": "true"}, builtin().versions)

    assert found.unserved({("resource.k8s.io", "v1beta2")}) == ["resource.k8s.io/v1alpha3"]
