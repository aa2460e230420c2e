"""Authentication config: AuthenticationConfiguration, the file of --authentication-config, as data.

    apiVersion: apiserver.config.k8s.io/v1
    kind: AuthenticationConfiguration
    jwt:
    - issuer: {url: https://issuer.example, audiences: [my-cluster]}
      claimMappings: {username: {claim: sub, prefix: "oidc:"}, groups: {expression: claims.roles}}
    anonymous: {enabled: true, conditions: [{path: /livez}]}

Must hold: reading the file compiles every CEL expression in it.
"""

import re
from collections.abc import Collection
from pathlib import Path
from typing import Literal, Self

import pydantic

from aio_apiserver.apiserver.config import issuer_urls
from aio_apiserver.apiserver.config.config_files import Model, load
from aio_apiserver.apiserver.tls import bundles
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.base.validation.domains import validate_prefixed_path
from aio_apiserver.registry.plugins.authentication import oidc
from aio_apiserver.registry.plugins.authentication.oidc import Issuer
from aio_apiserver.registry.plugins.authorization import config_expressions

_KIND = "AuthenticationConfiguration"
_VERSIONS = ("v1", "v1beta1", "v1alpha1")
_ALGORITHMS = ("RS256", "RS384", "RS512", "ES256", "ES384", "ES512", "PS256", "PS384", "PS512")
_MOST_ISSUERS = 64
_RESERVED = (".k8s.io", ".kubernetes.io")
_EMAIL = re.compile(r"\bclaims\s*\.\s*\??\s*email\b")
_VERIFIED = re.compile(r"\bclaims\s*\.\s*\??\s*email_verified\b")
_NOT_VERIFIED = (
    "claims.email_verified must be used in claimMappings.username.expression or "
    "claimMappings.extra[*].valueExpression or claimValidationRules[*].expression when claims.email is used in "
    "claimMappings.username.expression"
)


def _check_unique(name: str, values: Collection[str]) -> None:
    for number, value in enumerate(values := list(values)):
        if value in values[:number]:
            raise ValueError(f"{name}: Duplicate value: {quote(value)}")


class IssuerSettings(Model):
    """`issuer`: who signs the tokens, and for which audiences."""

    url: str
    discovery_url: str = pydantic.Field("", alias="discoveryURL")
    certificate_authority: str = ""
    audiences: tuple[str, ...]
    audience_match_policy: Literal["", "MatchAny"] = ""

    @pydantic.model_validator(mode="after")
    def _check(self) -> Self:
        for name, url in (("url", self.url), ("discoveryURL", self.discovery_url)):
            if (url or name == "url") and (wrong := issuer_urls.problem(url)):
                raise ValueError(f"{name}: {wrong}")
        if self.url.rstrip("/") == self.discovery_url.rstrip("/"):
            raise ValueError("discoveryURL must be different from URL")
        if not self.audiences or "" in self.audiences:
            raise ValueError("at least one audience is required, and none may be empty")
        _check_unique("audiences", self.audiences)
        if len(self.audiences) > 1 and not self.audience_match_policy:
            raise ValueError("audienceMatchPolicy must be MatchAny for multiple audiences")
        try:
            bundles.trusting(self.certificate_authority)
        except OSError as exc:
            raise ValueError("certificateAuthority: data does not contain any valid certificates") from exc
        return self


class Claim(Model):
    """A claim with a prefix for its value, or a CEL expression."""

    claim: str = ""
    prefix: str | None = None
    expression: str = ""

    @pydantic.model_validator(mode="after")
    def _check(self) -> Self:
        if self.expression and (self.claim or self.prefix is not None):
            raise ValueError("claim and prefix cannot be set when expression is set")
        if self.claim and self.prefix is None:
            raise ValueError("prefix is required when claim is set; it can be empty")
        if self.expression:
            config_expressions.texts_of_claims(self.expression)
        return self


class UidClaim(Model):
    """The claim with the UID, or a CEL expression."""

    claim: str = ""
    expression: str = ""

    @pydantic.model_validator(mode="after")
    def _check(self) -> Self:
        if self.expression:
            config_expressions.text_of_claims(self.expression)
        if self.claim and self.expression:
            raise ValueError("expression and claim can't both be set")
        return self


class Extra(Model):
    """One key of the user's extra values."""

    key: str
    value_expression: str

    @pydantic.model_validator(mode="after")
    def _check(self) -> Self:
        if wrong := validate_prefixed_path(self.key, "key"):
            raise ValueError("; ".join(map(str, wrong)))
        if self.key != self.key.lower():
            raise ValueError("key: must be lowercase")
        if f".{self.key.partition('/')[0]}".endswith(_RESERVED):
            raise ValueError("key: k8s.io, kubernetes.io and their subdomains are reserved for Kubernetes use")
        config_expressions.texts_of_claims(self.value_expression)
        return self


class ClaimMappings(Model):
    """How claims become the attributes of a user."""

    username: Claim
    groups: Claim = Claim()
    uid: UidClaim = UidClaim()
    extra: tuple[Extra, ...] = ()

    @pydantic.model_validator(mode="after")
    def _check(self) -> Self:
        if not self.username.claim and not self.username.expression:
            raise ValueError("username: claim or expression is required")
        if self.username.expression:
            config_expressions.text_of_claims(self.username.expression)
        _check_unique("extra", [one.key for one in self.extra])
        return self


class ClaimValidationRule(Model):
    """The required value of a claim, or a CEL expression that must be true."""

    claim: str = ""
    required_value: str = ""
    expression: str = ""
    message: str = ""

    @pydantic.model_validator(mode="after")
    def _check(self) -> Self:
        if bool(self.claim) is bool(self.expression):
            raise ValueError("exactly one of claim and expression is required")
        if self.claim and self.message:
            raise ValueError("message may not be specified when claim is set")
        if self.expression and self.required_value:
            raise ValueError("requiredValue may not be specified when expression is set")
        if self.expression:
            config_expressions.check_of_claims(self.expression, self.message)
        return self


class UserValidationRule(Model):
    """A CEL expression about the user that must be true."""

    expression: str
    message: str = ""

    @pydantic.model_validator(mode="after")
    def _check(self) -> Self:
        config_expressions.check_of_user(self.expression, self.message)
        return self


class Jwt(Model):
    """A JWT authenticator: one issuer."""

    issuer: IssuerSettings
    claim_validation_rules: tuple[ClaimValidationRule, ...] = ()
    claim_mappings: ClaimMappings
    user_validation_rules: tuple[UserValidationRule, ...] = ()

    @pydantic.model_validator(mode="after")
    def _check(self) -> Self:
        mappings = self.claim_mappings
        name = mappings.username.expression
        texts = [name, *(one.value_expression for one in mappings.extra)]
        texts += [rule.expression for rule in self.claim_validation_rules]
        if _EMAIL.search(name) and not any(map(_VERIFIED.search, texts)):
            raise ValueError(_NOT_VERIFIED)
        rules = self.claim_validation_rules
        _check_unique("claimValidationRules", [one.claim for one in rules if one.claim])
        _check_unique("claimValidationRules", [one.expression for one in rules if one.expression])
        _check_unique("userValidationRules", [one.expression for one in self.user_validation_rules])
        return self

    def as_issuer(self) -> Issuer:
        """The issuer for the token authenticator."""
        mappings, issuer = self.claim_mappings, self.issuer
        name, groups, uid = mappings.username, mappings.groups, mappings.uid
        return Issuer(
            url=issuer.url,
            discovery_url=issuer.discovery_url,
            audiences=issuer.audiences,
            algorithms=_ALGORITHMS,
            username=(
                config_expressions.text_of_claims(name.expression)
                if name.expression
                else oidc.name_from(name.claim, name.prefix or "")
            ),
            groups=(
                config_expressions.texts_of_claims(groups.expression)
                if groups.expression
                else oidc.groups_from(groups.claim, groups.prefix or "")
            ),
            uid=config_expressions.text_of_claims(uid.expression) if uid.expression else oidc.uid_from(uid.claim),
            extra={one.key: config_expressions.texts_of_claims(one.value_expression) for one in mappings.extra},
            checks=[
                config_expressions.check_of_claims(rule.expression, rule.message)
                if rule.expression
                else oidc.requiring(rule.claim, rule.required_value)
                for rule in self.claim_validation_rules
            ],
            user_checks=[
                config_expressions.check_of_user(rule.expression, rule.message) for rule in self.user_validation_rules
            ],
        )


class Condition(Model):
    """A path that anonymous requests may use."""

    path: str


class Anonymous(Model):
    """Whether anonymous requests are accepted."""

    enabled: bool
    conditions: tuple[Condition, ...] = ()

    @pydantic.model_validator(mode="after")
    def _check(self) -> Self:
        if self.conditions and not self.enabled:
            raise ValueError("conditions are not allowed unless anonymous is enabled")
        return self


class AuthenticationConfiguration(Model):
    """The whole file."""

    jwt: tuple[Jwt, ...] = ()
    anonymous: Anonymous | None = None

    @pydantic.model_validator(mode="after")
    def _check(self) -> Self:
        if len(self.jwt) > _MOST_ISSUERS:
            raise ValueError(f"jwt: Too many: {len(self.jwt)}: must have at most {_MOST_ISSUERS} items")
        _check_unique("jwt[*].issuer.url", [one.issuer.url for one in self.jwt])
        discovered = [one.issuer.discovery_url for one in self.jwt if one.issuer.discovery_url]
        _check_unique("jwt[*].issuer.discoveryURL", discovered)
        return self

    def is_open_to_all(self, otherwise: bool) -> bool:
        """Whether anonymous requests are accepted on all paths."""
        return otherwise if self.anonymous is None else self.anonymous.enabled and not self.anonymous.conditions


def read(path: Path, own_issuers: Collection[str] = ()) -> AuthenticationConfiguration:
    """The file's content. Raises OSError, ValueError."""
    return parse(path.read_bytes(), path, own_issuers)


def parse(data: bytes, path: Path, own_issuers: Collection[str] = ()) -> AuthenticationConfiguration:
    """The content of a file. The server's own issuers are refused. Raises ValueError with the file's name."""
    config = load(data, path, AuthenticationConfiguration, kind=_KIND, versions=_VERSIONS)
    for number, one in enumerate(config.jwt):
        if wrong := issuer_urls.problem(one.issuer.url, own=own_issuers):
            raise ValueError(f"{path}: jwt[{number}].issuer.url: {wrong}")
    return config
