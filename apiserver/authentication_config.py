"""AuthenticationConfiguration: the file behind --authentication-config, as data.

    apiVersion: apiserver.config.k8s.io/v1
    kind: AuthenticationConfiguration
    jwt:
    - issuer: {url: https://issuer.example, audiences: [my-cluster]}
      claimMappings: {username: {claim: sub, prefix: "oidc:"}, groups: {expression: claims.roles}}
    anonymous: {enabled: true, conditions: [{path: /livez}]}

Must hold: every expression has been compiled when the file has been read.
"""

import re
from pathlib import Path
from typing import Literal, Self

import pydantic

from apiserver.config_files import Model, load
from registry.access import expressions, oidc
from registry.access.oidc import Issuer
from registry.quoting import quote

_KIND = "AuthenticationConfiguration"
_VERSIONS = ("v1", "v1beta1")
_ALGORITHMS = ("RS256", "RS384", "RS512", "ES256", "ES384", "ES512", "PS256", "PS384", "PS512")
_EMAIL = re.compile(r"\bclaims\.email\b")
_VERIFIED = re.compile(r"\bclaims\.email_verified\b")
_NOT_VERIFIED = (
    "claims.email_verified must be used in claimMappings.username.expression or "
    "claimMappings.extra[*].valueExpression or claimValidationRules[*].expression when claims.email is used in "
    "claimMappings.username.expression"
)


class IssuerSettings(Model):
    """Who signs."""

    url: str
    discovery_url: str = pydantic.Field("", alias="discoveryURL")
    certificate_authority: str = ""
    audiences: tuple[str, ...]
    audience_match_policy: Literal["", "MatchAny"] = ""

    @pydantic.model_validator(mode="after")
    def _check(self) -> Self:
        for name, url in (("url", self.url), ("discoveryURL", self.discovery_url)):
            if (url or name == "url") and not url.startswith("https://"):
                raise ValueError(f"{name} must be an https URL")
        if not self.audiences or "" in self.audiences:
            raise ValueError("at least one audience is required, and none may be empty")
        if len(self.audiences) > 1 and not self.audience_match_policy:
            raise ValueError("audienceMatchPolicy must be MatchAny for multiple audiences")
        return self


class Claim(Model):
    """A claim and what is put before its value, or an expression."""

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
            expressions.texts_of_claims(self.expression)
        return self


class UidClaim(Model):
    """The claim that holds the uid, or an expression."""

    claim: str = ""
    expression: str = ""

    @pydantic.model_validator(mode="after")
    def _check(self) -> Self:
        if self.expression:
            expressions.text_of_claims(self.expression)
        if self.claim and self.expression:
            raise ValueError("expression and claim can't both be set")
        return self


class Extra(Model):
    """An extra value."""

    key: str
    value_expression: str

    @pydantic.model_validator(mode="after")
    def _check(self) -> Self:
        if not self.key or self.key != self.key.lower() or "/" not in self.key:
            raise ValueError("key must be a path behind a domain, in small letters")
        expressions.texts_of_claims(self.value_expression)
        return self


class ClaimMappings(Model):
    """What claims become."""

    username: Claim
    groups: Claim = Claim()
    uid: UidClaim = UidClaim()
    extra: tuple[Extra, ...] = ()

    @pydantic.model_validator(mode="after")
    def _check(self) -> Self:
        if not self.username.claim and not self.username.expression:
            raise ValueError("username: claim or expression is required")
        if self.username.expression:
            expressions.text_of_claims(self.username.expression)
        return self


class ClaimValidationRule(Model):
    """What a claim must be, or what must be true of all."""

    claim: str = ""
    required_value: str = ""
    expression: str = ""
    message: str = ""

    @pydantic.model_validator(mode="after")
    def _check(self) -> Self:
        if bool(self.claim) is bool(self.expression):
            raise ValueError("exactly one of claim and expression is required")
        if self.expression:
            expressions.check_of_claims(self.expression, self.message)
        return self


class UserValidationRule(Model):
    """What must be true of users."""

    expression: str
    message: str = ""

    @pydantic.model_validator(mode="after")
    def _check(self) -> Self:
        expressions.check_of_user(self.expression, self.message)
        return self


class Jwt(Model):
    """One issuer."""

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
        return self

    def as_issuer(self) -> Issuer:
        """In the words of those who verify."""
        mappings, issuer = self.claim_mappings, self.issuer
        name, groups, uid = mappings.username, mappings.groups, mappings.uid
        return Issuer(
            url=issuer.url,
            discovery_url=issuer.discovery_url,
            audiences=issuer.audiences,
            algorithms=_ALGORITHMS,
            username=(
                expressions.text_of_claims(name.expression)
                if name.expression
                else oidc.name_from(name.claim, name.prefix or "")
            ),
            groups=(
                expressions.texts_of_claims(groups.expression)
                if groups.expression
                else oidc.groups_from(groups.claim, groups.prefix or "")
            ),
            uid=expressions.text_of_claims(uid.expression) if uid.expression else oidc.uid_from(uid.claim),
            extra={one.key: expressions.texts_of_claims(one.value_expression) for one in mappings.extra},
            checks=[
                expressions.check_of_claims(rule.expression, rule.message)
                if rule.expression
                else oidc.requiring(rule.claim, rule.required_value)
                for rule in self.claim_validation_rules
            ],
            user_checks=[
                expressions.check_of_user(rule.expression, rule.message) for rule in self.user_validation_rules
            ],
        )


class Condition(Model):
    """A path that anybody may ask for."""

    path: str


class Anonymous(Model):
    """Whether requests of nobody in particular are accepted."""

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
        urls = [one.issuer.url for one in self.jwt]
        for url in urls:
            if urls.count(url) > 1:
                raise ValueError(f"jwt: there are two issuers with the url {quote(url)}")
        return self

    def is_open_to_all(self, otherwise: bool) -> bool:
        """Whether nobody in particular may ask for anything."""
        return otherwise if self.anonymous is None else self.anonymous.enabled and not self.anonymous.conditions


def read(path: Path) -> AuthenticationConfiguration:
    """The file's content. Raises OSError, ValueError."""
    return parse(path.read_bytes(), path)


def parse(data: bytes, path: Path) -> AuthenticationConfiguration:
    """What a file holds. Raises ValueError, with the file's name."""
    return load(data, path, AuthenticationConfiguration, kind=_KIND, versions=_VERSIONS)
