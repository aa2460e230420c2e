"""Tests config maps, secrets, limit ranges and quotas: errors and warnings."""

import base64
import datetime
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.groups.core.config import key_pairs
from aio_apiserver.registry.groups.core.config.configmaps import CONFIGMAPS
from aio_apiserver.registry.groups.core.config.secrets import SECRETS
from aio_apiserver.registry.groups.core.namespaces.limitranges import LIMITRANGES
from aio_apiserver.registry.groups.core.namespaces.resourcequotas import RESOURCEQUOTAS
from tests.registry.defaulted import CONTEXT, created, defaulted


def errors_of(kind: Kind, value: dict[str, Any]) -> list[str]:
    return [str(error) for error in kind.strategy.validate(CONTEXT, created(kind, value))]


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def pair() -> tuple[bytes, bytes]:
    """A self-signed certificate and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "a")])
    now = datetime.datetime(2030, 1, 1, tzinfo=datetime.UTC)
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    builder = builder.serial_number(1).not_valid_before(now).not_valid_after(now + datetime.timedelta(days=1))
    certificate = builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
    form = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    return certificate, key.private_bytes(*form)


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        ("{", "unexpected end of JSON input"),
        ("[]", "json: cannot unmarshal array into Go value of type map[string]interface {}"),
        ("not", "invalid character 'o' in literal null (expecting 'u')"),
    ],
)
def test_a_docker_configuration_is_a_map(text: str, detail: str) -> None:
    secret = {"type": "kubernetes.io/dockercfg", "data": {".dockercfg": encoded(text)}}

    assert errors_of(SECRETS, secret) == [f'data[.dockercfg]: Invalid value: "<secret contents redacted>": {detail}']


def test_string_data_of_a_secret_is_encoded_by_defaulting() -> None:
    secret = defaulted(SECRETS, {"data": {"a": "QQ=="}, "stringData": {"a": "over"}})

    assert secret["data"] == {"a": encoded("over")}
    assert "stringData" not in secret


def test_a_matching_key_pair_gets_no_warning() -> None:
    assert key_pairs.describe(*pair()) == ""


def test_a_mismatched_key_pair_gets_a_warning() -> None:
    (certificate, key), (other, other_key) = pair(), pair()

    assert key_pairs.describe(certificate, other_key) == "tls: private key does not match public key"
    assert "PEM inputs may have been switched" in key_pairs.describe(key, certificate)
    assert "found a certificate rather than a key" in key_pairs.describe(certificate, other)


def test_too_much_data_is_an_error_without_a_field() -> None:
    assert errors_of(CONFIGMAPS, {"data": {"a": "x" * (2**20 + 1)}}) == [
        "[]: Too long: may not be more than 1048576 bytes"
    ]


def test_missing_limits_of_containers_are_derived() -> None:
    item = {"type": "Container", "max": {"cpu": "2"}, "min": {"memory": "1Gi"}, "defaultRequest": {"cpu": "1"}}

    limits = defaulted(LIMITRANGES, {"spec": {"limits": [item]}})["spec"]["limits"][0]

    assert limits["default"] == {"cpu": "2"}
    assert limits["defaultRequest"] == {"cpu": "1", "memory": "1Gi"}


@pytest.mark.parametrize(
    ("item", "error"),
    [
        ({"max": {"cpu": "1"}, "min": {"cpu": "2"}}, "min value 2 is greater than max value 1"),
        ({"maxLimitRequestRatio": {"cpu": "500m"}}, "ratio 500m is less than 1"),
        (
            {"max": {"cpu": "2"}, "min": {"cpu": "1"}, "maxLimitRequestRatio": {"cpu": "3"}},
            "ratio 3 is greater than max/min = 2.000000",
        ),
        ({"default": {"cpu": "1"}}, "may not be specified when `type` is 'Pod'"),
    ],
)
def test_limits_that_contradict_each_other_are_refused(item: dict[str, Any], error: str) -> None:
    errors = errors_of(LIMITRANGES, {"spec": {"limits": [{"type": "Pod", **item}]}})

    assert any(one.endswith(error) for one in errors), errors


@pytest.mark.parametrize(
    ("spec", "errors"),
    [
        ({"hard": {"pods": "1", "count/widgets.example.com": "2"}}, []),
        ({"hard": {"pods": "-1"}}, ['spec.hard[pods]: Invalid value: "-1": must be greater than or equal to 0']),
        ({"hard": {"pods": "1500m"}}, ['spec.hard[pods]: Invalid value: "1500m": must be an integer']),
        (
            {"hard": {"configmaps": "1"}, "scopes": ["BestEffort"]},
            ['spec.scopes: Invalid value: ["BestEffort"]: unsupported scope applied to resource'],
        ),
        (
            {"hard": {"pods": "1"}, "scopes": ["BestEffort", "NotBestEffort"]},
            ['spec.scopes: Invalid value: ["BestEffort","NotBestEffort"]: conflicting scopes'],
        ),
    ],
)
def test_invalid_quotas_are_refused(spec: dict[str, Any], errors: list[str]) -> None:
    assert errors_of(RESOURCEQUOTAS, {"spec": spec}) == errors
