"""What an EncryptionConfiguration must fulfil beyond its form: kube-apiserver's validation, rule by rule.

Pure: a configuration in, messages out, all of them at once. Must hold: no message shows key material.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations
from urllib.parse import urlsplit

import orjson

from aio_apiserver.storage.encryption.config import EncryptionConfiguration, GroupResource, Key, Kms, Provider

_ANY = GroupResource("*", "*")
_AES_SIZES = (16, 24, 32)
_KEY_SIZES = {"aesgcm": _AES_SIZES, "aescbc": _AES_SIZES, "secretbox": (32,)}
_WITHOUT_REST = ("apiserveripinfo", "serviceipallocations", "servicenodeportallocations")


def problems(configuration: EncryptionConfiguration) -> Sequence[str]:
    """Everything that is wrong, each with its path; nothing when the configuration can be used."""
    if not configuration.resources:
        return [_required("resources", "at least one resources is required")]
    found: list[str] = []
    kms_names: set[str] = set()
    for position, rule in enumerate(configuration.resources):
        path = f"resources[{position}]"
        found += _resources(rule.resources, f"{path}.resources")
        if not rule.providers:
            found.append(_required(f"{path}.providers", f"at least one {path}.providers is required"))
        for number, provider in enumerate(rule.providers):
            found += _provider(provider, f"{path}.providers[{number}]", kms_names)
    return found or list(_masked(configuration))


def _resources(resources: Sequence[str], path: str) -> Iterator[str]:
    if not resources:
        yield _required(path, f"at least one {path} is required")
    parsed = [GroupResource.parse(text) for text in resources]
    if len(set(parsed)) < len(parsed):
        yield _invalid(path, resources, "the same resource cannot be specified multiple times")
    if any(_overlap(one, other) for one, other in combinations(parsed, 2)):
        yield _invalid(
            path,
            resources,
            "using overlapping resources such as 'secrets' and '*.' in the same resource list is not allowed "
            "as they will be masked",
        )
    for position, text in enumerate(resources):
        complaint = _name_complaint(text)
        if complaint:
            yield _invalid(f"{path}[{position}]", text, complaint)


def _overlap(one: GroupResource, other: GroupResource) -> bool:
    if one == other:
        return False
    return _ANY in (one, other) or (one.group == other.group and "*" in (one.resource, other.resource))


def _name_complaint(text: str) -> str:
    named = GroupResource.parse(text)
    complaints = (
        (text.lower() != text, "resource name should not contain capital letters"),
        (text == "*", "use '*.' to encrypt all the resources from core API group or *.* to encrypt all resources"),
        (text in _WITHOUT_REST, "resources which do not have REST API/s cannot be encrypted"),
        (
            named.group == "events.k8s.io",
            "'*.events.k8s.io' objects are stored using the 'events' API group in etcd. "
            "Use 'events' instead in the config file",
        ),
        (
            named.group == "extensions",
            "'extensions' group has been removed and cannot be used for encryption",
        ),
        (
            named.group == "*" and named.resource != "*",
            "encrypting the same resource across groups is not supported",
        ),
    )
    return next((complaint for applies, complaint in complaints if applies), "")


def _provider(provider: Provider, path: str, kms_names: set[str]) -> Iterator[str]:
    names = provider.names()
    if not names:
        expected = "KMS, AESGCM, AESCBC, Secretbox, Identity"
        yield _invalid(path, {}, f"provider does not contain any of the expected providers: {expected}")
    if len(names) > 1:
        yield _invalid(
            path,
            names,
            "more than one provider specified in a single element, should split into different list elements",
        )
    for name in names:
        if name in _KEY_SIZES:
            yield from _keys(getattr(provider, name).keys, f"{path}.{name}.keys", _KEY_SIZES[name])
    if provider.kms is not None:
        yield from _kms(provider.kms, f"{path}.kms", kms_names)
        kms_names.add(provider.kms.name)


def _keys(keys: Sequence[Key], path: str, sizes: Sequence[int]) -> Iterator[str]:
    if not keys:
        yield _required(path, "at least one keys is required")
    for position, key in enumerate(keys):
        if not key.name:
            yield _required(f"{path}[{position}].name", "name is a mandatory field for a key")
        yield from _secret(key, f"{path}[{position}].secret", sizes)


def _secret(key: Key, path: str, sizes: Sequence[int]) -> Iterator[str]:
    if not key.secret.get_secret_value():
        yield _required(path, "secret is a mandatory field for a key")
        return
    try:
        size = len(key.material())
    except ValueError:
        yield _invalid(path, "REDACTED", "secrets must be base64 encoded")
        return
    if size not in sizes:
        expected = " ".join(map(str, sizes))
        yield _invalid(
            path, "REDACTED", f"secret is not of the expected length, got {size}, expected one of [{expected}]"
        )


def _kms(kms: Kms, path: str, names: set[str]) -> Iterator[str]:
    if not kms.name:
        yield _required(f"{path}.name", "name is a mandatory field for a provider")
    if ":" in kms.name:
        yield _invalid(f"{path}.name", kms.name, f"invalid KMS provider name {kms.name}, must not contain ':'")
    if kms.name in names:
        yield _invalid(f"{path}.name", kms.name, f"duplicate KMS provider name {kms.name}, names must be unique")
    if kms.timeout <= 0:
        yield _invalid(f"{path}.timeout", kms.timeout, "timeout should be a positive value")
    complaint = _endpoint_complaint(kms.endpoint)
    if complaint:
        yield _invalid(f"{path}.endpoint", kms.endpoint, complaint)
    if kms.api_version == "v1":
        yield _invalid(
            f"{path}.apiVersion",
            kms.api_version,
            "KMSv1 is deprecated and not supported, use apiVersion v2 with a plugin that speaks KMS v2",
        )
        return
    if kms.api_version != "v2":
        complaint = f"unsupported apiVersion {kms.api_version} for KMS provider, only v2 is supported"
        yield _invalid(f"{path}.apiVersion", kms.api_version, complaint)
    if kms.cachesize is not None:
        yield _invalid(f"{path}.cachesize", kms.cachesize, "cachesize is not supported in v2")


def _endpoint_complaint(endpoint: str) -> str:
    if not endpoint:
        return "endpoint is a mandatory field for a kms"
    try:
        url = urlsplit(endpoint)
    except ValueError as exc:
        return f"invalid endpoint for kms provider, error: {exc}"
    if url.scheme != "unix":
        return f'unsupported scheme "{url.scheme}" for KMS provider, only unix is supported'
    return "" if len(url.path) > 1 else "invalid endpoint for kms provider, error: it names no socket"


def _masked(configuration: EncryptionConfiguration) -> Iterator[str]:
    """Resources that a wildcard of an earlier rule has taken: their providers would never be used."""
    seen: set[GroupResource] = set()
    for rule in configuration.resources:
        for named in map(GroupResource.parse, rule.resources):
            for wildcard in (GroupResource(named.group, "*"), _ANY):
                if wildcard in seen:
                    yield f'resource "{named}" is masked by earlier rule "{wildcard}"'
                    return
            seen.add(named)


def _required(path: str, message: str) -> str:
    return f"{path}: Required value: {message}"


def _invalid(path: str, value: object, message: str) -> str:
    return f"{path}: Invalid value: {orjson.dumps(value).decode()}: {message}"
