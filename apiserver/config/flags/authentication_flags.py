"""authentication_flags: Flags of authentication: certificates, tokens, OIDC, webhooks, front proxies."""

from pathlib import Path
from typing import Annotated

from aio_apiserver.apiserver.config.flags.flag_fields import AUTHENTICATION, FlagGroup, flag
from aio_apiserver.apiserver.config.flags.flag_types import FlagType
from aio_apiserver.apiserver.config.flags.setting_types import (
    Duration,
    Strings,
    each_of,
    one_of,
)
from aio_apiserver.registry.generic.access import token_issuer

OIDC_ALGORITHMS = ("RS256", "RS384", "RS512", "ES256", "ES384", "ES512", "PS256", "PS384", "PS512")


class AuthenticationFlags(FlagGroup):
    """The group Authentication of --help."""

    anonymous_auth: bool = flag(
        AUTHENTICATION,
        True,
        "Enables anonymous requests to the secure port of the API server. Requests that are not rejected by another "
        "authentication method are treated as anonymous requests. Anonymous requests have a username of "
        "system:anonymous, and a group name of system:unauthenticated.",
    )
    client_ca_file: Path | None = flag(
        AUTHENTICATION,
        None,
        "If set, any request presenting a client certificate signed by one of the authorities in the client-ca-file is "
        "authenticated with an identity corresponding to the CommonName of the client certificate. The server's own CA "
        "is always accepted.",
    )
    token_auth_file: Path | None = flag(
        AUTHENTICATION,
        None,
        "If set, the file that will be used to secure the secure port of the API server via token authentication.",
    )
    service_account_issuer: Strings = flag(
        AUTHENTICATION,
        (token_issuer.ISSUER,),
        'Identifier of the service account token issuer. The issuer will assert this identifier in "iss" claim of '
        "issued tokens. When this flag is specified multiple times, the first is used to generate tokens and all are "
        "used to determine which issuers are accepted.",
    )
    service_account_key_file: Strings = flag(
        AUTHENTICATION,
        (),
        "File containing PEM-encoded x509 RSA or ECDSA private or public keys, used to verify ServiceAccount tokens. "
        "The specified file can contain multiple keys, and the flag can be specified multiple times with different "
        "files. If unspecified, --service-account-signing-key-file is used, and without that either a key of the "
        "server's own.",
    )
    service_account_signing_key_file: Path | None = flag(
        AUTHENTICATION,
        None,
        "Path to the file that contains the current private key of the service account token issuer. The issuer will "
        "sign issued ID tokens with this private key. Without it and --service-account-key-file, the server makes a "
        "key in --cert-dir.",
    )
    service_account_max_token_expiration: Duration = flag(
        AUTHENTICATION,
        0.0,
        "The maximum validity duration of a token created by the service account token issuer. If an otherwise valid "
        "TokenRequest with a validity duration larger than this value is requested, a token will be issued with a "
        "validity duration of this value. 0 is no limit.",
    )
    service_account_extend_token_expiration: bool = flag(
        AUTHENTICATION,
        True,
        "Turns on projected service account expiration extension during token generation, which helps safe transition "
        "from legacy token to bound service account token feature.",
    )
    service_account_lookup: bool = flag(
        AUTHENTICATION,
        True,
        "If true, validate ServiceAccount tokens exist in etcd as part of authentication. Tokens of secrets are not "
        "accepted without that.",
    )
    service_account_jwks_uri: str = flag(
        AUTHENTICATION,
        "",
        "Overrides the URI for the JSON Web Key Set in the discovery doc served at /.well-known/openid-configuration.",
    )
    api_audiences: Strings = flag(
        AUTHENTICATION,
        (),
        "Identifiers of the API. The service account token authenticator will validate that tokens used against the "
        "API are bound to at least one of these audiences.",
        shown="those of --service-account-issuer",
    )
    authentication_config: Path | None = flag(
        AUTHENTICATION,
        None,
        "File with Authentication Configuration to configure the JWT Token authenticator or the anonymous "
        "authenticator. This flag is mutually exclusive with the --oidc-* flags.",
    )
    authentication_token_webhook_config_file: Path | None = flag(
        AUTHENTICATION,
        None,
        "File with webhook configuration for token authentication in kubeconfig format. The API server will query the "
        "remote service to determine authentication for bearer tokens.",
    )
    authentication_token_webhook_version: Annotated[str, one_of("v1", "v1beta1")] = flag(
        AUTHENTICATION,
        "v1beta1",
        "The API version of the authentication.k8s.io TokenReview to send to and expect from the webhook.",
    )
    authentication_token_webhook_cache_ttl: Duration = flag(
        AUTHENTICATION, 120.0, "The duration to cache responses from the webhook token authenticator."
    )
    enable_bootstrap_token_auth: bool = flag(
        AUTHENTICATION,
        False,
        "Enable to allow secrets of type 'bootstrap.kubernetes.io/token' in the 'kube-system' namespace to be used for "
        "TLS bootstrapping authentication.",
    )
    oidc_issuer_url: str = flag(
        AUTHENTICATION,
        "",
        "The URL of the OpenID issuer, only HTTPS scheme will be accepted. If set, it will be used to verify the OIDC "
        "JSON Web Token (JWT).",
    )
    oidc_client_id: str = flag(
        AUTHENTICATION,
        "",
        "The client ID for the OpenID Connect client, must be set if --oidc-issuer-url is set.",
    )
    oidc_ca_file: Path | None = flag(
        AUTHENTICATION,
        None,
        "If set, the OpenID server's certificate will be verified by one of the authorities in the oidc-ca-file, "
        "otherwise the host's root CA set will be used.",
    )
    oidc_username_claim: str = flag(
        AUTHENTICATION,
        "sub",
        "The OpenID claim to use as the user name. Note that claims other than the default ('sub') is not guaranteed "
        "to be unique and immutable.",
    )
    oidc_username_prefix: str = flag(
        AUTHENTICATION,
        "",
        "If provided, all usernames will be prefixed with this value. If not provided, username claims other than "
        "'email' are prefixed by the issuer URL to avoid clashes. To skip any prefixing, provide the value '-'.",
    )
    oidc_groups_claim: str = flag(
        AUTHENTICATION,
        "",
        "If provided, the name of a custom OpenID Connect claim for specifying user groups. The claim value is "
        "expected to be a string or array of strings.",
    )
    oidc_groups_prefix: str = flag(
        AUTHENTICATION,
        "",
        "If provided, all groups will be prefixed with this value to prevent conflicts with other authentication "
        "strategies.",
    )
    oidc_required_claim: Annotated[dict[str, str], FlagType.MAP] = flag(
        AUTHENTICATION,
        {},
        "A key=value pair that describes a required claim in the ID Token. If set, the claim is verified to be present "
        "in the ID Token with a matching value. Repeat this flag to specify multiple claims.",
    )
    oidc_signing_algs: Annotated[Strings, each_of(*OIDC_ALGORITHMS)] = flag(
        AUTHENTICATION,
        ("RS256",),
        "Comma-separated list of allowed JOSE asymmetric signing algorithms. JWTs with a supported 'alg' header values "
        f"are: {', '.join(OIDC_ALGORITHMS)}.",
    )
    requestheader_client_ca_file: Path | None = flag(
        AUTHENTICATION,
        None,
        "Root certificate bundle to use to verify client certificates on incoming requests before trusting usernames "
        "in headers specified by --requestheader-username-headers.",
    )
    requestheader_allowed_names: Strings = flag(
        AUTHENTICATION,
        (),
        "List of client certificate common names to allow to provide usernames in headers specified by "
        "--requestheader-username-headers. If empty, any client certificate validated by the authorities in "
        "--requestheader-client-ca-file is allowed.",
    )
    requestheader_username_headers: Strings = flag(
        AUTHENTICATION, (), "List of request headers to inspect for usernames. X-Remote-User is common."
    )
    requestheader_uid_headers: Strings = flag(
        AUTHENTICATION, (), "List of request headers to inspect for UIDs. X-Remote-Uid is suggested."
    )
    requestheader_group_headers: Strings = flag(
        AUTHENTICATION, (), "List of request headers to inspect for groups. X-Remote-Group is suggested."
    )
    requestheader_extra_headers_prefix: Strings = flag(
        AUTHENTICATION, (), "List of request header prefixes to inspect. X-Remote-Extra- is suggested."
    )
    proxy_client_cert_file: Path | None = flag(
        AUTHENTICATION,
        None,
        "Client certificate used to prove the identity of the aggregator when it must call out during a request to "
        "the servers behind APIServices. Without it they are shown none.",
    )
    proxy_client_key_file: Path | None = flag(
        AUTHENTICATION, None, "Private key for the client certificate of --proxy-client-cert-file."
    )
