"""EncryptionConfiguration: its form, decoded strictly, and the rules that it must fulfil."""

from typing import Any

import pytest

from aio_apiserver.storage.encryption import config
from aio_apiserver.storage.encryption import rules as encryption_rules
from aio_apiserver.storage.encryption.config import GroupResource, InvalidEncryptionConfig
from tests.storage.encryption.encryption_files import IDENTITY, configuration, keyed, kms, rule, secret

HEAD = b"apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\n"
SOCKET = "unix:///run/kms.sock"


def problems(*rules: dict[str, Any]) -> list[str]:
    return list(encryption_rules.problems(config.decode(configuration(*rules))))


def problems_of(provider: dict[str, Any]) -> list[str]:
    return problems(rule(["secrets"], provider))


def test_rules_wildcards_and_all_providers_are_read() -> None:
    decoded = config.decode(
        HEAD
        + b"""
resources:
- resources: [events]
  providers:
  - identity: {}
- resources: [secrets, configmaps, pandas.awesome.bears.example]
  providers:
  - aescbc:
      keys:
      - name: key1
        secret: c2VjcmV0IGlzIHNlY3VyZQ==
  - kms:
      apiVersion: v2
      name: vault
      endpoint: unix:///run/kms.sock
      timeout: 1m2.5s
- resources: ['*.apps']
  providers:
  - secretbox:
      keys:
      - name: key2
        secret: YWJjZGVmZ2hpamtsbW5vcHFyc3R1dnd4eXoxMjM0NTY=
- resources: ['*.*']
  providers:
  - aesgcm:
      keys:
      - name: key3
        secret: c2VjcmV0IGlzIHNlY3VyZQ==
"""
    )

    assert encryption_rules.problems(decoded) == []
    provider = decoded.resources[1].providers[1].kms
    assert provider is not None
    assert (provider.name, provider.timeout) == ("vault", 62.5)


def test_the_kind_of_old_documentation_is_taken() -> None:
    decoded = config.decode(b"kind: EncryptionConfig\napiVersion: v1\nresources: []\n")

    assert decoded.resources == []


def test_null_is_the_same_as_absent() -> None:
    decoded = config.decode(HEAD + b"resources:\n- resources: null\n  providers: [{aescbc: null, identity: {}}]\n")

    assert decoded.resources[0].resources == []
    assert decoded.resources[0].providers[0].names() == ["identity"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"- a list\n", "the file holds no object"),
        (b"kind: EncryptionConfiguration\n", "Object 'ApiVersion' is missing"),
        (b"apiVersion: apiserver.config.k8s.io/v1\n", "Object 'Kind' is missing"),
        (
            b"apiVersion: apiserver.config.k8s.io/v2\nkind: EncryptionConfiguration\n",
            "no kind 'EncryptionConfiguration' is registered for version 'apiserver.config.k8s.io/v2'",
        ),
        (b"apiVersion: v1\nkind: Secret\n", "no kind 'Secret' is registered for version 'v1'"),
        (b"kind: [a]\napiVersion: {b: c}\n", "no kind"),
        (HEAD + b"kind: Other\n", "line 3, column 1: key 'kind' already set"),
        (HEAD + b"resource: []\n", 'strict decoding error: unknown field "resource"'),
        (
            HEAD + b"resources: [{providers: [{aescbc: {keys: [{name: a, sekret: hunter2}]}}]}]\n",
            'unknown field "resources[0].providers[0].aescbc.keys[0].sekret"',
        ),
        (
            HEAD + b"resources: [{providers: [{aescbc: {keys: [{name: a, secret: 12345}]}}]}]\n",
            "resources[0].providers[0].aescbc.keys[0].secret: Input should be a valid string",
        ),
        (HEAD + b"resources: [{providers: [{identity: {a: b}}]}]\n", "providers[0].identity.a"),
        (HEAD + b"resources: [{resources: secrets}]\n", "resources[0].resources: Input should be a valid list"),
        (HEAD + b"resources: [{providers: [{kms: {timeout: soon}}]}]\n", "kms.timeout: Value error, not a duration"),
        (HEAD + b"resources: [{providers: [{kms: {timeout: 3}}]}]\n", "kms.timeout: Value error, not a duration"),
        (HEAD + b"resources: [{providers: [{kms: {timeout: 1..2s}}]}]\n", "kms.timeout: Value error, not a duration"),
        (
            HEAD + b"resources: [{providers: [{kms: {cachesize: many}}]}]\n",
            "kms.cachesize: Input should be a valid int",
        ),
    ],
)
def test_a_file_of_another_form_is_refused(text: bytes, message: str) -> None:
    with pytest.raises(InvalidEncryptionConfig) as caught:
        config.decode(text)

    assert message in str(caught.value)
    assert "hunter2" not in str(caught.value)
    assert "12345" not in str(caught.value)


@pytest.mark.parametrize(
    ("resources", "message"),
    [
        ([], "resources[0].resources: Required value: at least one resources[0].resources is required"),
        (["secrets", "secrets"], "the same resource cannot be specified multiple times"),
        (["secrets", "*."], "using overlapping resources such as 'secrets' and '*.'"),
        (["deployments.apps", "*.apps"], "using overlapping resources"),
        (["*.*", "*.apps"], "using overlapping resources"),
        (["Secrets"], 'resources[0].resources[0]: Invalid value: "Secrets": resource name should not contain capital'),
        (["*"], "use '*.' to encrypt all the resources from core API group or *.* to encrypt all resources"),
        (["serviceipallocations"], "resources which do not have REST API/s cannot be encrypted"),
        (["events.events.k8s.io"], "Use 'events' instead in the config file"),
        (["ingresses.extensions"], "'extensions' group has been removed"),
        (["secrets.*"], "encrypting the same resource across groups is not supported"),
    ],
)
def test_resources_that_have_no_meaning_are_refused(resources: list[str], message: str) -> None:
    found = problems(rule(resources, IDENTITY))

    assert [message in problem for problem in found] == [True]


@pytest.mark.parametrize("resources", [["secrets", "*.apps"], ["*.*"], ["*."], ["deployments.apps", "deployments"]])
def test_resources_beside_each_other_are_valid(resources: list[str]) -> None:
    assert problems(rule(resources, IDENTITY)) == []


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ("*.", "secrets", 'resource "secrets" is masked by earlier rule "*."'),
        ("*.apps", "deployments.apps", 'resource "deployments.apps" is masked by earlier rule "*.apps"'),
        ("*.*", "secrets", 'resource "secrets" is masked by earlier rule "*.*"'),
        ("*.*", "*.", 'resource "*." is masked by earlier rule "*.*"'),
        ("*.apps", "*.apps", 'resource "*.apps" is masked by earlier rule "*.apps"'),
    ],
)
def test_a_rule_behind_a_wildcard_that_takes_its_resource_is_refused(first: str, second: str, message: str) -> None:
    assert problems(rule([first], IDENTITY), rule([second], IDENTITY)) == [message]


def test_a_wildcard_behind_a_rule_for_one_resource_is_valid() -> None:
    assert problems(rule(["secrets"], IDENTITY), rule(["*."], IDENTITY), rule(["*.*"], IDENTITY)) == []


def test_a_resource_may_come_twice_in_rules_of_its_own() -> None:
    assert problems(rule(["secrets"], keyed("aescbc", "a")), rule(["secrets"], IDENTITY)) == []


def test_a_configuration_for_nothing_is_refused() -> None:
    assert problems() == ["resources: Required value: at least one resources is required"]
    assert problems(rule(["secrets"])) == [
        "resources[0].providers: Required value: at least one resources[0].providers is required"
    ]


@pytest.mark.parametrize(
    ("provider", "path", "message"),
    [
        ({}, "", "provider does not contain any of the expected providers: KMS, AESGCM, AESCBC, Secretbox, Identity"),
        (IDENTITY | keyed("aescbc", "a"), "", "more than one provider specified in a single element"),
        ({"aescbc": {"keys": []}}, ".aescbc.keys", "at least one keys is required"),
        ({"aesgcm": {}}, ".aesgcm.keys", "at least one keys is required"),
        (
            {"aescbc": {"keys": [{"secret": secret("a")}]}},
            ".aescbc.keys[0].name",
            "name is a mandatory field for a key",
        ),
        ({"aescbc": {"keys": [{"name": "a"}]}}, ".aescbc.keys[0].secret", "secret is a mandatory field for a key"),
        (
            {"secretbox": {"keys": [{"name": "a", "secret": "hunter2!"}]}},
            ".secretbox.keys[0].secret",
            "secrets must be base64 encoded",
        ),
        (
            {"aescbc": {"keys": [{"name": "a", "secret": secret("a", 31)}]}},
            ".aescbc.keys[0].secret",
            "secret is not of the expected length, got 31, expected one of [16 24 32]",
        ),
        (
            {"secretbox": {"keys": [{"name": "a", "secret": secret("a", 16)}]}},
            ".secretbox.keys[0].secret",
            "secret is not of the expected length, got 16, expected one of [32]",
        ),
        (kms(""), ".kms.endpoint", "endpoint is a mandatory field for a kms"),
        (
            kms("tcp://127.0.0.1:1"),
            ".kms.endpoint",
            'unsupported scheme "tcp" for KMS provider, only unix is supported',
        ),
        (kms("unix://"), ".kms.endpoint", "invalid endpoint for kms provider, error: it names no socket"),
        (kms("unix://[run"), ".kms.endpoint", "invalid endpoint for kms provider, error: "),
        (kms(SOCKET, name=""), ".kms.name", "name is a mandatory field for a provider"),
        (kms(SOCKET, name="a:b"), ".kms.name", "invalid KMS provider name a:b, must not contain ':'"),
        (kms(SOCKET, timeout="0s"), ".kms.timeout", "timeout should be a positive value"),
        (kms(SOCKET, timeout="-3s"), ".kms.timeout", "timeout should be a positive value"),
        (
            {"kms": {"name": "a", "endpoint": SOCKET}},
            ".kms.apiVersion",
            "KMSv1 is deprecated and not supported, use apiVersion v2",
        ),
        (
            {"kms": {"apiVersion": "v3", "name": "a", "endpoint": SOCKET}},
            ".kms.apiVersion",
            "unsupported apiVersion v3 for KMS provider, only v2 is supported",
        ),
        (
            {"kms": {"apiVersion": "v2", "name": "a", "endpoint": SOCKET, "cachesize": 10}},
            ".kms.cachesize",
            "cachesize is not supported in v2",
        ),
    ],
)
def test_a_provider_that_cannot_work_is_refused(provider: dict[str, Any], path: str, message: str) -> None:
    (problem,) = problems_of(provider)

    assert problem.startswith(f"resources[0].providers[0]{path}: ")
    assert message in problem
    assert "hunter2" not in problem
    assert secret("a") not in problem


def test_a_kms_name_belongs_to_one_provider() -> None:
    (problem,) = problems(rule(["secrets"], kms(SOCKET)), rule(["configmaps"], kms(SOCKET)))

    assert problem == (
        'resources[1].providers[0].kms.name: Invalid value: "vault": '
        "duplicate KMS provider name vault, names must be unique"
    )


def test_everything_that_is_wrong_is_said_at_once() -> None:
    assert len(problems(rule(["Secrets", "*"], {}, keyed("aescbc")), rule([], IDENTITY))) == 6


def test_a_secret_in_two_lines_is_one_secret() -> None:
    key = config.Key.model_validate({"name": "a", "secret": f"{secret('a')[:20]}\n{secret('a')[20:]}"})

    assert key.material() == b"a" * 32


def test_no_representation_shows_a_secret() -> None:
    decoded = config.decode(configuration(rule(["secrets"], keyed("aescbc", "a"))))

    assert secret("a") not in repr(decoded) + str(decoded) + decoded.model_dump_json()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("secrets", GroupResource("", "secrets")),
        ("deployments.apps", GroupResource("apps", "deployments")),
        ("roles.rbac.authorization.k8s.io", GroupResource("rbac.authorization.k8s.io", "roles")),
        ("*.", GroupResource("", "*")),
        ("*.apps", GroupResource("apps", "*")),
        ("*.*", GroupResource("*", "*")),
    ],
)
def test_a_resource_is_shown_as_it_is_written(text: str, expected: GroupResource) -> None:
    assert GroupResource.parse(text) == expected
    assert str(expected) == text
