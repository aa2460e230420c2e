"""AuthenticationConfiguration: the file behind --authentication-config, as data.

apiVersion: apiserver.config.k8s.io/v1
kind: AuthenticationConfiguration
jwt:
- issuer: {url: https://issuer.example, audiences: [my-cluster]}
  claimMappings: {username: {claim: sub, prefix: "oidc:"}}
anonymous: {enabled: true, conditions: [{path: /livez}]}
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal, Self

import pydantic

from apiserver.config_files import Model, load
from registry.access.oidc import Issuer, Mapped
from registry.quoting import quote

_KIND = "AuthenticationConfiguration"
_VERSIONS = ("v1", "v1beta1")
_ALGORITHMS = ("RS256", "RS384", "RS512", "ES256", "ES384", "ES512", "PS256", "PS384", "PS512")
_NO_CEL = "expressions are not supported: name a claim"


class IssuerSettings(Model):
    """Who signs."""

    url: str
    discovery_url: str = pydantic.Field("", alias="discoveryURL")
    certificate_authority: str = ""
    audiences: tuple[str, ...]
    audience_match_policy: Literal["", "MatchAny"] = ""
    egress_selector_type: Literal[""] = ""

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
    """A claim that holds a value, and what is put before the value."""

    claim: str = ""
    prefix: str | None = None
    expression: str = ""

    @pydantic.model_validator(mode="after")
    def _check(self) -> Self:
        if self.expression:
            raise ValueError(_NO_CEL)
        if self.claim and self.prefix is None:
            raise ValueError("prefix is required when claim is set; it can be empty")
        return self


class UidClaim(Model):
    """The claim that holds the uid."""

    claim: str = ""
    expression: str = ""

    @pydantic.model_validator(mode="after")
    def _check(self) -> Self:
        if self.expression:
            raise ValueError(_NO_CEL)
        return self


class ClaimMappings(Model):
    """What claims become."""

    username: Claim
    groups: Claim = Claim()
    uid: UidClaim = UidClaim()
    extra: tuple[Mapping[str, str], ...] = ()

    @pydantic.model_validator(mode="after")
    def _check(self) -> Self:
        if not self.username.claim:
            raise ValueError("username needs a claim")
        if self.extra:
            raise ValueError(f"extra: {_NO_CEL}")
        return self


class ClaimValidationRule(Model):
    """What a claim must be."""

    claim: str = ""
    required_value: str = ""
    expression: str = ""
    message: str = ""

    @pydantic.model_validator(mode="after")
    def _check(self) -> Self:
        if self.expression:
            raise ValueError(_NO_CEL)
        if not self.claim:
            raise ValueError("claim is required")
        return self


class Jwt(Model):
    """One issuer."""

    issuer: IssuerSettings
    claim_validation_rules: tuple[ClaimValidationRule, ...] = ()
    claim_mappings: ClaimMappings
    user_validation_rules: tuple[Mapping[str, str], ...] = ()

    @pydantic.model_validator(mode="after")
    def _check(self) -> Self:
        if self.user_validation_rules:
            raise ValueError(f"userValidationRules: {_NO_CEL}")
        return self

    def as_issuer(self) -> Issuer:
        """In the words of those who verify."""
        mappings, issuer = self.claim_mappings, self.issuer
        groups = mappings.groups
        return Issuer(
            url=issuer.url,
            discovery_url=issuer.discovery_url,
            audiences=issuer.audiences,
            algorithms=_ALGORITHMS,
            username=Mapped(mappings.username.claim, mappings.username.prefix or ""),
            groups=Mapped(groups.claim, groups.prefix or "") if groups.claim else None,
            uid_claim=mappings.uid.claim,
            required={rule.claim: rule.required_value for rule in self.claim_validation_rules},
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


def read(path: Path) -> AuthenticationConfiguration:
    """The file's content. Raises OSError, ValueError."""
    return load(path, AuthenticationConfiguration, _KIND, _VERSIONS)
