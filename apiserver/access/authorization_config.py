"""Authorization config: AuthorizationConfiguration, the file of --authorization-config, as data.

apiVersion: apiserver.config.k8s.io/v1
kind: AuthorizationConfiguration
authorizers:
- {type: Webhook, name: policy, webhook: {timeout: 3s, failurePolicy: Deny, ...}}
- {type: RBAC, name: rbac}
"""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Literal, Self

import pydantic

from aio_apiserver.apiserver.config.config_files import Duration, Model, load
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.base.validation import names
from aio_apiserver.registry.plugins.authorization import config_expressions

_KIND = "AuthorizationConfiguration"
_VERSIONS = ("v1", "v1beta1", "v1alpha1")
_MOST_CONDITIONS = 64


class WebhookConnectionInfo(Model):
    """How a webhook is reached."""

    type: Literal["KubeConfigFile", "InClusterConfig"]
    kube_config_file: Path | None = None

    @pydantic.model_validator(mode="after")
    def _check(self) -> Self:
        if self.type != "KubeConfigFile":
            raise ValueError("InClusterConfig is not supported: this server is not a pod of the cluster")
        if self.kube_config_file is None or not self.kube_config_file.is_absolute():
            raise ValueError("kubeConfigFile must be an absolute path")
        return self


def _checked(text: str) -> str:
    if not text.strip():
        raise ValueError("expression is required")
    config_expressions.match_conditions([text])
    return text


def _usual(seconds: float) -> Callable[[float], float]:
    """A duration of zero means the default."""
    return lambda given: given or seconds


class MatchCondition(Model):
    """A CEL expression about the SubjectAccessReview."""

    expression: Annotated[str, pydantic.AfterValidator(_checked)]


class WebhookConfiguration(Model):
    """The settings of a webhook authorizer."""

    authorized_ttl: Annotated[Duration, pydantic.AfterValidator(_usual(300.0))] = pydantic.Field(
        300.0, alias="authorizedTTL"
    )
    unauthorized_ttl: Annotated[Duration, pydantic.AfterValidator(_usual(30.0))] = pydantic.Field(
        30.0, alias="unauthorizedTTL"
    )
    cache_authorized_requests: bool = True
    cache_unauthorized_requests: bool = True
    timeout: Duration
    subject_access_review_version: Literal["v1", "v1beta1"]
    match_condition_subject_access_review_version: Literal["v1"] | None = None
    failure_policy: Literal["NoOpinion", "Deny"]
    connection_info: WebhookConnectionInfo
    match_conditions: tuple[MatchCondition, ...] = ()

    @pydantic.model_validator(mode="after")
    def _check(self) -> Self:
        if not 0 < self.timeout <= _LONGEST_TIMEOUT:
            raise ValueError("timeout must be > 0s and <= 30s")
        if len(self.match_conditions) > _MOST_CONDITIONS:
            raise ValueError(f"matchConditions: Too many: must have at most {_MOST_CONDITIONS} items")
        texts = [one.expression for one in self.match_conditions]
        if repeated := [one for number, one in enumerate(texts) if one in texts[:number]]:
            raise ValueError(f"matchConditions: Duplicate value: {quote(repeated[0])}")
        if self.match_conditions and self.match_condition_subject_access_review_version is None:
            raise ValueError("matchConditionSubjectAccessReviewVersion is required if match conditions are specified")
        return self


_LONGEST_TIMEOUT = 30.0


class Entry(Model):
    """One authorizer of the chain."""

    type: Literal["AlwaysAllow", "AlwaysDeny", "ABAC", "Node", "RBAC", "Webhook"]
    name: str
    webhook: WebhookConfiguration | None = None

    @pydantic.model_validator(mode="after")
    def _check(self) -> Self:
        if (self.webhook is not None) is not (self.type == "Webhook"):
            raise ValueError("webhook must be there if, and only if, type is Webhook")
        if wrong := names.is_dns_subdomain(self.name, False):
            raise ValueError(f"authorizer name is invalid: {', '.join(wrong)}")
        return self


class AuthorizationConfiguration(Model):
    """The whole file."""

    authorizers: tuple[Entry, ...]

    @pydantic.model_validator(mode="after")
    def _check(self) -> Self:
        if not self.authorizers:
            raise ValueError("at least one authorization mode must be defined")
        seen: set[str] = set()
        types: set[str] = set()
        for entry in self.authorizers:
            if entry.name in seen:
                raise ValueError(f"there are two authorizers with the name {quote(entry.name)}")
            if entry.type in types and entry.type != "Webhook":
                raise ValueError(f"there are two authorizers of type {entry.type}")
            seen.add(entry.name)
            types.add(entry.type)
        return self


def read(path: Path) -> AuthorizationConfiguration:
    """The file's content. Raises OSError, ValueError."""
    return parse(path.read_bytes(), path)


def parse(data: bytes, path: Path) -> AuthorizationConfiguration:
    """The content of a file. Raises ValueError with the file's name."""
    return load(data, path, AuthorizationConfiguration, kind=_KIND, versions=_VERSIONS)
