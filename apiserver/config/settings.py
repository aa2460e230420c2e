"""Settings: the table of all flags, with types, defaults and help. One field is one flag.

The name of a flag is that of its field, with dashes. --help and docs/flags.md are made from this table. The grammar of
the command line is in flag_grammar.py. Must hold: settings are frozen. They are checked as a whole when they are
created. No file is opened.
"""

import os
from ipaddress import IPv4Network
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic.config import JsonDict

from aio_apiserver.apiserver.config import emulated_versions, settings_checks
from aio_apiserver.apiserver.config.flag_grammar import FlagType
from aio_apiserver.apiserver.config.setting_types import (
    Address,
    CacheSizes,
    Count,
    Duration,
    Network,
    Overrides,
    Port,
    Ports,
    Positive,
    Rate,
    Strings,
    each_of,
    one_of,
)
from aio_apiserver.apiserver.config.tls_names import CIPHERS, TLS_VERSIONS
from aio_apiserver.controllers import names as controller_names
from aio_apiserver.registry.base import gates
from aio_apiserver.registry.controlplane import admission_plugins
from aio_apiserver.registry.generic.access import token_issuer
from aio_apiserver.storage import codec
from aio_apiserver.storage.store import lease_manager

AUTHORIZATION_MODES = ("AlwaysAllow", "AlwaysDeny", "ABAC", "Webhook", "RBAC", "Node")
OIDC_ALGORITHMS = ("RS256", "RS384", "RS512", "ES256", "ES384", "ES512", "PS256", "PS384", "PS512")
AUDIT_FORMATS = ("legacy", "json")
AUDIT_MODES = ("batch", "blocking", "blocking-strict")
_AUDIT_MODE = (
    "Strategy for sending audit events. Blocking indicates sending events should block server responses, "
    "blocking-strict that a request fails when its first event cannot be sent. Batch causes the backend to buffer and "
    f"write events asynchronously. Known modes are {','.join(AUDIT_MODES)}."
)
STORAGE_BACKENDS = ("etcd3", "sqlite", "memory")
"""etcd; the embedded store in a file; the embedded store in memory, whose data ends with the process."""


def _flag(group: str, default: Any, description: str, *, shorthand: str = "", shown: str = "") -> Any:
    """A field with its default and its help. `shown` describes a default that depends on other settings."""
    about: JsonDict = {"group": group, "shorthand": shorthand, "shown": shown}
    if callable(default):
        return Field(default_factory=default, description=description, json_schema_extra=about)
    return Field(default, description=description, json_schema_extra=about)


def _syncs(of: str, default: int) -> Any:
    """How many keys of a controller are looked at side by side."""
    about = f"The number of {of} that are allowed to sync concurrently; only of --controllers."
    return _flag(_LOCAL, default, about)


BETA_VERSIONS = "{beta-versions}"
"""Stands in a help text for the versions that only --runtime-config enables; the groups that have them load late."""

_GENERIC = "Generic"
_ETCD = "Etcd"
_SERVING = "Secure serving"
_AUTHENTICATION = "Authentication"
_AUTHORIZATION = "Authorization"
_ADMISSION = "Admission"
_AUDITING = "Auditing"
_LOGS = "Logs"
_FEATURES = "Features"
_MISC = "Misc"
_LOCAL = "Local"


def _data_home() -> Path:
    """The directory for the data of a user's programs."""
    home = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(home) / "aio-apiserver"


ENVIRONMENT = {"XDG_DATA_HOME": "where --data-dir is when it is not given; ~/.local/share if unset."}
"""The environment variables that the server reads."""


class Settings(BaseModel):
    """The settings of the server, one for each flag."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    advertise_address: Address = _flag(
        _GENERIC,
        "",
        "The IP address on which to advertise the apiserver to members of the cluster. If blank, --bind-address is "
        "used, and if that is unspecified too, 127.0.0.1.",
    )
    external_hostname: str = _flag(
        _GENERIC, "", "The host name to use when generating URLs for this server; the serving certificate has it."
    )
    max_requests_inflight: Count = _flag(
        _GENERIC, 400, "The maximum number of non-mutating requests in flight; 0 is no limit."
    )
    max_mutating_requests_inflight: Count = _flag(
        _GENERIC, 200, "The maximum number of mutating requests in flight; 0 is no limit."
    )
    request_timeout: Duration = _flag(
        _GENERIC, 60.0, "How long a request may take that is not long-running; a client's shorter timeout counts."
    )
    emulated_version: Strings = _flag(
        _GENERIC,
        (),
        "The version that /version, the metrics and the feature gates tell of: major.minor, or kube=major.minor, from "
        "1.33 to 1.36. What is served, and how, stays that of 1.36.",
    )
    feature_gates: Strings = _flag(
        _GENERIC,
        (),
        "A set of key=value pairs that describe feature gates for alpha/experimental features. All gates of the "
        "version are known and checked; those that switch something in this server: "
        f"{', '.join(sorted(gates.USED))}. The others are told of in a warning and in metrics.",
    )
    runtime_config: Strings = _flag(
        _GENERIC,
        (),
        "A set of key=value pairs that enable or disable built-in APIs: <group>/<version>=true|false, "
        "<group>/<version>/<resource>=true|false, and api/all, api/ga, api/beta, api/alpha=true|false for all versions "
        f"of a kind. Beta versions that can be enabled: {BETA_VERSIONS}.",
    )
    enable_priority_and_fairness: bool = _flag(
        _GENERIC,
        True,
        "If true, replace the max-in-flight handler with an enhanced one that queues and dispatches with priority and "
        "fairness: its seats are the sum of --max-requests-inflight and --max-mutating-requests-inflight.",
    )
    min_request_timeout: Count = _flag(
        _GENERIC,
        1800,
        "The minimum number of seconds a watch is kept open that does not say how long: it ends after one to two times "
        "this long, so that clients spread over restarted servers.",
    )
    shutdown_delay_duration: Duration = _flag(
        _GENERIC,
        0.0,
        "How long to go on serving after a signal to stop, while /readyz already fails, so that load balancers notice.",
    )

    data_dir: Path = _flag(
        _LOCAL,
        _data_home,
        "The directory of the embedded store, the certificates and the kubeconfig file.",
        shown="$XDG_DATA_HOME/aio-apiserver",
    )
    insecure_port: Port = _flag(
        _LOCAL,
        0,
        "A port on 127.0.0.1 that serves plain HTTP without authentication or authorization, for curl. 0 is off.",
    )
    controllers: Strings = _flag(
        _LOCAL,
        (),
        "The controllers to run in this process, as kube-controller-manager names them: '*' is all, 'foo' is the "
        f"controller foo, '-foo' all but foo. All controllers: {', '.join(controller_names.ALL)}.",
    )
    kube_api_qps: float = _flag(
        _LOCAL,
        20.0,
        "Requests per second that each of --controllers may make; negative is no limit. As in kube-controller-manager, "
        "the garbage collector has twice as many, the namespace controller twenty times.",
    )
    kube_api_burst: Positive = _flag(
        _LOCAL, 30, "Requests that each of --controllers may make at once before --kube-api-qps counts."
    )
    concurrent_cron_job_syncs: Positive = _syncs("cron jobs", 5)
    concurrent_daemonset_syncs: Positive = _syncs("daemon sets", 2)
    concurrent_deployment_syncs: Positive = _syncs("deployments", 5)
    concurrent_endpoint_syncs: Positive = _syncs("services' endpoints", 5)
    concurrent_gc_syncs: Positive = _syncs("objects of the garbage collector", 20)
    concurrent_job_syncs: Positive = _syncs("jobs", 5)
    concurrent_namespace_syncs: Positive = _syncs("namespaces", 10)
    concurrent_rc_syncs: Positive = _syncs("replication controllers", 5)
    concurrent_replicaset_syncs: Positive = _syncs("replica sets", 5)
    concurrent_resource_quota_syncs: Positive = _syncs("resource quotas", 5)
    concurrent_service_endpoint_syncs: Positive = _syncs("services' endpoint slices", 5)
    concurrent_statefulset_syncs: Positive = _syncs("stateful sets", 5)
    concurrent_ttl_after_finished_syncs: Positive = _syncs("finished jobs", 5)
    testing: bool = _flag(
        _LOCAL,
        False,
        "Serve /testing/: faults on the wire, snapshots of a store in memory, a record of requests. For tests alone.",
    )
    testing_faults: Path | None = _flag(
        _LOCAL, None, "A file with the rules of faults that hold from the start. Only with --testing."
    )
    ready_file: Path | None = _flag(
        _LOCAL, None, "A file to write when the server is ready, and to remove when it stops."
    )
    simulate: bool = _flag(
        _LOCAL,
        False,
        "Whether to simulate nodes, a scheduler and the lives of pods. Annotations of a pod say how it fares: "
        "simulate.aio-apiserver/phase is Running, Succeeded, Failed, CrashLoopBackOff, ImagePullBackOff, NotReady or "
        "Pending; simulate.aio-apiserver/delay, run and stop are how long it takes to start, to end and to stop; "
        "simulate.aio-apiserver/exit-code is that of containers that fail.",
    )
    simulate_nodes: Count = _flag(_LOCAL, 1, "How many nodes --simulate has.")
    write_kubeconfig: Path | None = _flag(
        _LOCAL,
        None,
        "Where to write a kubeconfig file with an administrator's credentials (mode 0600).",
        shown="<data-dir>/admin.kubeconfig",
    )

    etcd_servers: Strings = _flag(
        _ETCD,
        (),
        "List of etcd servers to connect with (scheme://ip:port), comma separated. Without any, the store is embedded.",
    )
    etcd_cafile: Path | None = _flag(_ETCD, None, "SSL Certificate Authority file used to secure etcd communication.")
    etcd_certfile: Path | None = _flag(_ETCD, None, "SSL certification file used to secure etcd communication.")
    etcd_keyfile: Path | None = _flag(_ETCD, None, "SSL key file used to secure etcd communication.")
    etcd_prefix: str = _flag(_ETCD, "/registry", "The prefix to prepend to all resource paths in etcd.")
    etcd_servers_overrides: Overrides = _flag(
        _ETCD,
        (),
        "Per-resource etcd servers overrides, comma separated. The individual override format: group/resource#servers, "
        "where servers are URLs, semicolon separated.",
    )
    etcd_compaction_interval: Duration = _flag(
        _ETCD, 300.0, "The interval of compaction requests. If 0, the compaction request from apiserver is disabled."
    )
    storage_backend: Annotated[str, one_of(*STORAGE_BACKENDS)] = _flag(
        _ETCD,
        "",
        f"The storage backend for persistence: {', '.join(STORAGE_BACKENDS)}.",
        shown="etcd3 with --etcd-servers, else sqlite",
    )
    storage_media_type: Annotated[str, one_of(*codec.BY_MEDIA_TYPE)] = _flag(
        _ETCD,
        codec.MSGPACK.media_type,
        f"The media type to use to store objects in storage: {', '.join(codec.BY_MEDIA_TYPE)}. All of them are read.",
    )
    encryption_provider_config: Path | None = _flag(
        _ETCD,
        None,
        "The file containing configuration for encryption providers to be used for storing secrets in etcd.",
    )
    encryption_provider_config_automatic_reload: bool = _flag(
        _ETCD, False, "Whether the file of --encryption-provider-config is read again when it changes."
    )
    event_ttl: Duration = _flag(_ETCD, 3600.0, "Amount of time to retain events.")
    delete_collection_workers: int = _flag(
        _ETCD, 1, "Number of workers spawned for DeleteCollection call. These are used to speed up namespace cleanup."
    )
    lease_reuse_duration_seconds: Annotated[int, Field(ge=1)] = _flag(
        _ETCD, lease_manager.REUSE_SECONDS, "The time in seconds that each lease is reused."
    )
    watch_cache: bool = _flag(_ETCD, True, "Enable watch caching in the apiserver.")
    watch_cache_sizes: CacheSizes = _flag(
        _ETCD,
        (),
        "Watch cache size settings for some resources (pods, nodes, etc.), comma separated. The individual setting "
        "format: resource[.group]#size. A size of zero disables watch caching for the resource; caches are sized "
        "automatically, so that every other size means the same.",
    )

    bind_address: Address = _flag(
        _SERVING,
        "0.0.0.0",  # noqa: S104 kube-apiserver's default; every request is authenticated
        "The IP address on which to listen for the --secure-port port. If blank or an unspecified address (0.0.0.0 or "
        "::), all interfaces and IP address families will be used.",
    )
    secure_port: Port = _flag(
        _SERVING,
        6443,
        "The port on which to serve HTTPS with authentication and authorization. 0 takes a free one, which the "
        "kubeconfig file names.",
    )
    cert_dir: Path | None = _flag(
        _SERVING,
        None,
        "The directory where the CA and the certificates are kept that the server makes for itself.",
        shown="<data-dir>/pki",
    )
    tls_cert_file: Path | None = _flag(
        _SERVING,
        None,
        "File containing the x509 certificate for HTTPS, followed by the CA's if any. Without it and "
        "--tls-private-key-file, the server makes a certificate in --cert-dir.",
    )
    tls_private_key_file: Path | None = _flag(
        _SERVING, None, "File containing the x509 private key matching --tls-cert-file."
    )
    tls_min_version: Annotated[str, one_of(*TLS_VERSIONS)] = _flag(
        _SERVING, "VersionTLS12", f"Minimum TLS version supported: {', '.join(TLS_VERSIONS)}."
    )
    tls_cipher_suites: Annotated[Strings, each_of(*CIPHERS)] = _flag(
        _SERVING,
        (),
        "Comma-separated list of cipher suites for the server; those of TLS 1.3 are always on. If omitted, OpenSSL's "
        f"defaults are used. Possible values: {', '.join(CIPHERS)}.",
    )
    permit_port_sharing: bool = _flag(
        _SERVING, False, "If true, SO_REUSEPORT is used when binding the port, so that several instances can share it."
    )

    anonymous_auth: bool = _flag(
        _AUTHENTICATION,
        True,
        "Enables anonymous requests to the secure port of the API server. Requests that are not rejected by another "
        "authentication method are treated as anonymous requests. Anonymous requests have a username of "
        "system:anonymous, and a group name of system:unauthenticated.",
    )
    client_ca_file: Path | None = _flag(
        _AUTHENTICATION,
        None,
        "If set, any request presenting a client certificate signed by one of the authorities in the client-ca-file is "
        "authenticated with an identity corresponding to the CommonName of the client certificate. The server's own CA "
        "is always accepted.",
    )
    token_auth_file: Path | None = _flag(
        _AUTHENTICATION,
        None,
        "If set, the file that will be used to secure the secure port of the API server via token authentication.",
    )
    service_account_issuer: Strings = _flag(
        _AUTHENTICATION,
        (token_issuer.ISSUER,),
        'Identifier of the service account token issuer. The issuer will assert this identifier in "iss" claim of '
        "issued tokens. When this flag is specified multiple times, the first is used to generate tokens and all are "
        "used to determine which issuers are accepted.",
    )
    service_account_key_file: Strings = _flag(
        _AUTHENTICATION,
        (),
        "File containing PEM-encoded x509 RSA or ECDSA private or public keys, used to verify ServiceAccount tokens. "
        "The specified file can contain multiple keys, and the flag can be specified multiple times with different "
        "files. If unspecified, --service-account-signing-key-file is used, and without that either a key of the "
        "server's own.",
    )
    service_account_signing_key_file: Path | None = _flag(
        _AUTHENTICATION,
        None,
        "Path to the file that contains the current private key of the service account token issuer. The issuer will "
        "sign issued ID tokens with this private key. Without it and --service-account-key-file, the server makes a "
        "key in --cert-dir.",
    )
    service_account_max_token_expiration: Duration = _flag(
        _AUTHENTICATION,
        0.0,
        "The maximum validity duration of a token created by the service account token issuer. If an otherwise valid "
        "TokenRequest with a validity duration larger than this value is requested, a token will be issued with a "
        "validity duration of this value. 0 is no limit.",
    )
    service_account_extend_token_expiration: bool = _flag(
        _AUTHENTICATION,
        True,
        "Turns on projected service account expiration extension during token generation, which helps safe transition "
        "from legacy token to bound service account token feature.",
    )
    service_account_lookup: bool = _flag(
        _AUTHENTICATION,
        True,
        "If true, validate ServiceAccount tokens exist in etcd as part of authentication. Tokens of secrets are not "
        "accepted without that.",
    )
    service_account_jwks_uri: str = _flag(
        _AUTHENTICATION,
        "",
        "Overrides the URI for the JSON Web Key Set in the discovery doc served at /.well-known/openid-configuration.",
    )
    api_audiences: Strings = _flag(
        _AUTHENTICATION,
        (),
        "Identifiers of the API. The service account token authenticator will validate that tokens used against the "
        "API are bound to at least one of these audiences.",
        shown="those of --service-account-issuer",
    )
    authentication_config: Path | None = _flag(
        _AUTHENTICATION,
        None,
        "File with Authentication Configuration to configure the JWT Token authenticator or the anonymous "
        "authenticator. This flag is mutually exclusive with the --oidc-* flags.",
    )
    authentication_token_webhook_config_file: Path | None = _flag(
        _AUTHENTICATION,
        None,
        "File with webhook configuration for token authentication in kubeconfig format. The API server will query the "
        "remote service to determine authentication for bearer tokens.",
    )
    authentication_token_webhook_version: Annotated[str, one_of("v1", "v1beta1")] = _flag(
        _AUTHENTICATION,
        "v1beta1",
        "The API version of the authentication.k8s.io TokenReview to send to and expect from the webhook.",
    )
    authentication_token_webhook_cache_ttl: Duration = _flag(
        _AUTHENTICATION, 120.0, "The duration to cache responses from the webhook token authenticator."
    )
    enable_bootstrap_token_auth: bool = _flag(
        _AUTHENTICATION,
        False,
        "Enable to allow secrets of type 'bootstrap.kubernetes.io/token' in the 'kube-system' namespace to be used for "
        "TLS bootstrapping authentication.",
    )
    oidc_issuer_url: str = _flag(
        _AUTHENTICATION,
        "",
        "The URL of the OpenID issuer, only HTTPS scheme will be accepted. If set, it will be used to verify the OIDC "
        "JSON Web Token (JWT).",
    )
    oidc_client_id: str = _flag(
        _AUTHENTICATION,
        "",
        "The client ID for the OpenID Connect client, must be set if --oidc-issuer-url is set.",
    )
    oidc_ca_file: Path | None = _flag(
        _AUTHENTICATION,
        None,
        "If set, the OpenID server's certificate will be verified by one of the authorities in the oidc-ca-file, "
        "otherwise the host's root CA set will be used.",
    )
    oidc_username_claim: str = _flag(
        _AUTHENTICATION,
        "sub",
        "The OpenID claim to use as the user name. Note that claims other than the default ('sub') is not guaranteed "
        "to be unique and immutable.",
    )
    oidc_username_prefix: str = _flag(
        _AUTHENTICATION,
        "",
        "If provided, all usernames will be prefixed with this value. If not provided, username claims other than "
        "'email' are prefixed by the issuer URL to avoid clashes. To skip any prefixing, provide the value '-'.",
    )
    oidc_groups_claim: str = _flag(
        _AUTHENTICATION,
        "",
        "If provided, the name of a custom OpenID Connect claim for specifying user groups. The claim value is "
        "expected to be a string or array of strings.",
    )
    oidc_groups_prefix: str = _flag(
        _AUTHENTICATION,
        "",
        "If provided, all groups will be prefixed with this value to prevent conflicts with other authentication "
        "strategies.",
    )
    oidc_required_claim: Annotated[dict[str, str], FlagType.MAP] = _flag(
        _AUTHENTICATION,
        {},
        "A key=value pair that describes a required claim in the ID Token. If set, the claim is verified to be present "
        "in the ID Token with a matching value. Repeat this flag to specify multiple claims.",
    )
    oidc_signing_algs: Annotated[Strings, each_of(*OIDC_ALGORITHMS)] = _flag(
        _AUTHENTICATION,
        ("RS256",),
        "Comma-separated list of allowed JOSE asymmetric signing algorithms. JWTs with a supported 'alg' header values "
        f"are: {', '.join(OIDC_ALGORITHMS)}.",
    )
    requestheader_client_ca_file: Path | None = _flag(
        _AUTHENTICATION,
        None,
        "Root certificate bundle to use to verify client certificates on incoming requests before trusting usernames "
        "in headers specified by --requestheader-username-headers.",
    )
    requestheader_allowed_names: Strings = _flag(
        _AUTHENTICATION,
        (),
        "List of client certificate common names to allow to provide usernames in headers specified by "
        "--requestheader-username-headers. If empty, any client certificate validated by the authorities in "
        "--requestheader-client-ca-file is allowed.",
    )
    requestheader_username_headers: Strings = _flag(
        _AUTHENTICATION, (), "List of request headers to inspect for usernames. X-Remote-User is common."
    )
    requestheader_uid_headers: Strings = _flag(
        _AUTHENTICATION, (), "List of request headers to inspect for UIDs. X-Remote-Uid is suggested."
    )
    requestheader_group_headers: Strings = _flag(
        _AUTHENTICATION, (), "List of request headers to inspect for groups. X-Remote-Group is suggested."
    )
    requestheader_extra_headers_prefix: Strings = _flag(
        _AUTHENTICATION, (), "List of request header prefixes to inspect. X-Remote-Extra- is suggested."
    )
    authorization_config: Path | None = _flag(
        _AUTHORIZATION,
        None,
        "File with Authorization Configuration to configure the authorizer chain. This flag is mutually exclusive with "
        "the other --authorization-mode and --authorization-webhook-* flags.",
    )
    authorization_policy_file: Path | None = _flag(
        _AUTHORIZATION,
        None,
        "File with authorization policy in json line by line format, used with --authorization-mode=ABAC, on the "
        "secure port.",
    )
    authorization_webhook_config_file: Path | None = _flag(
        _AUTHORIZATION,
        None,
        "File with webhook configuration in kubeconfig format, used with --authorization-mode=Webhook. The API server "
        "will query the remote service to determine access on the API server's secure port.",
    )
    authorization_webhook_version: Annotated[str, one_of("v1", "v1beta1")] = _flag(
        _AUTHORIZATION,
        "v1beta1",
        "The API version of the authorization.k8s.io SubjectAccessReview to send to and expect from the webhook.",
    )
    authorization_webhook_cache_authorized_ttl: Duration = _flag(
        _AUTHORIZATION, 300.0, "The duration to cache 'authorized' responses from the webhook authorizer."
    )
    authorization_webhook_cache_unauthorized_ttl: Duration = _flag(
        _AUTHORIZATION, 30.0, "The duration to cache 'unauthorized' responses from the webhook authorizer."
    )
    authorization_mode: Annotated[Strings, each_of(*AUTHORIZATION_MODES)] = _flag(
        _AUTHORIZATION,
        ("RBAC",),
        f"Ordered list of plug-ins to do authorization on secure port: {', '.join(AUTHORIZATION_MODES)}.",
    )

    enable_admission_plugins: Strings = _flag(
        _ADMISSION,
        (),
        "Admission plugins that should be enabled in addition to default enabled ones "
        f"({', '.join(row.name for row in admission_plugins.PLUGINS if row.is_default)}). "
        f"Comma-delimited list of admission plugins: {', '.join(admission_plugins.NAMES)}. "
        "The order of plugins in this flag does not matter.",
    )
    disable_admission_plugins: Strings = _flag(
        _ADMISSION,
        (),
        "Admission plugins that should be disabled although they are in the default enabled plugins list. "
        "The order of plugins in this flag does not matter.",
    )

    admission_control_config_file: Path | None = _flag(_ADMISSION, None, "File with admission control configuration.")
    default_not_ready_toleration_seconds: int = _flag(
        _ADMISSION,
        300,
        "Indicates the tolerationSeconds of the toleration for notReady:NoExecute that is added by default to every "
        "pod that does not already have such a toleration.",
    )
    default_unreachable_toleration_seconds: int = _flag(
        _ADMISSION,
        300,
        "Indicates the tolerationSeconds of the toleration for unreachable:NoExecute that is added by default to "
        "every pod that does not already have such a toleration.",
    )

    audit_policy_file: Path | None = _flag(
        _AUDITING, None, "Path to the file that defines the audit policy configuration."
    )
    audit_log_path: Path | None = _flag(
        _AUDITING,
        None,
        "If set, all requests coming to the apiserver will be logged to this file. '-' means standard out.",
    )
    audit_log_format: Annotated[str, one_of(*AUDIT_FORMATS)] = _flag(
        _AUDITING,
        "json",
        'Format of saved audits. "legacy" indicates 1-line text format for each event. "json" indicates structured '
        "json format.",
    )
    audit_log_version: Annotated[str, one_of("audit.k8s.io/v1")] = _flag(
        _AUDITING, "audit.k8s.io/v1", "API group and version used for serializing audit events written to log."
    )
    audit_log_maxage: Count = _flag(
        _AUDITING,
        366,
        "The maximum number of days to retain old audit log files, by the timestamp in their names. 0 is no limit.",
    )
    audit_log_maxbackup: Count = _flag(
        _AUDITING, 100, "The maximum number of old audit log files to retain. 0 is no limit."
    )
    audit_log_maxsize: Count = _flag(
        _AUDITING,
        100,
        "The maximum size in megabytes of the audit log file before it gets rotated. 0 disables rotation.",
    )
    audit_log_compress: bool = _flag(_AUDITING, False, "If set, the rotated log files will be compressed using gzip.")
    audit_log_mode: Annotated[str, one_of(*AUDIT_MODES)] = _flag(_AUDITING, "blocking", _AUDIT_MODE)
    audit_log_batch_buffer_size: Positive = _flag(
        _AUDITING, 10000, "The size of the buffer to store events before batching. Only used in batch mode."
    )
    audit_log_batch_max_size: Positive = _flag(_AUDITING, 1, "The maximum size of a batch. Only used in batch mode.")
    audit_log_batch_max_wait: Duration = _flag(
        _AUDITING, 0.0, "How long to wait before sending a batch that is not full. Only used in batch mode."
    )
    audit_log_batch_throttle_enable: bool = _flag(
        _AUDITING, False, "Whether batching throttling is enabled. Only used in batch mode."
    )
    audit_log_batch_throttle_qps: Rate = _flag(
        _AUDITING, 0.0, "Maximum average number of batches per second. Only used in batch mode."
    )
    audit_log_batch_throttle_burst: Count = _flag(
        _AUDITING, 0, "Maximum number of batches at once after a rest. Only used in batch mode."
    )
    audit_log_truncate_enabled: bool = _flag(_AUDITING, False, "Whether event and batch truncating is enabled.")
    audit_log_truncate_max_event_size: Positive = _flag(
        _AUDITING,
        102400,
        "Maximum size of an event. Of a bigger one the request and response are removed, and if that is not enough, "
        "it is discarded.",
    )
    audit_log_truncate_max_batch_size: Positive = _flag(
        _AUDITING, 10485760, "Maximum size of a batch; a bigger one is split."
    )
    audit_webhook_config_file: Path | None = _flag(
        _AUDITING, None, "Path to a kubeconfig formatted file that defines the audit webhook configuration."
    )
    audit_webhook_version: Annotated[str, one_of("audit.k8s.io/v1")] = _flag(
        _AUDITING, "audit.k8s.io/v1", "API group and version used for serializing audit events written to webhook."
    )
    audit_webhook_initial_backoff: Duration = _flag(
        _AUDITING, 10.0, "The amount of time to wait before retrying the first failed request."
    )
    audit_webhook_mode: Annotated[str, one_of(*AUDIT_MODES)] = _flag(_AUDITING, "batch", _AUDIT_MODE)
    audit_webhook_batch_buffer_size: Positive = _flag(
        _AUDITING, 10000, "The size of the buffer to store events before batching. Only used in batch mode."
    )
    audit_webhook_batch_max_size: Positive = _flag(
        _AUDITING, 400, "The maximum size of a batch. Only used in batch mode."
    )
    audit_webhook_batch_max_wait: Duration = _flag(
        _AUDITING, 30.0, "How long to wait before sending a batch that is not full. Only used in batch mode."
    )
    audit_webhook_batch_throttle_enable: bool = _flag(
        _AUDITING, True, "Whether batching throttling is enabled. Only used in batch mode."
    )
    audit_webhook_batch_throttle_qps: Rate = _flag(
        _AUDITING, 10.0, "Maximum average number of batches per second. Only used in batch mode."
    )
    audit_webhook_batch_throttle_burst: Count = _flag(
        _AUDITING, 15, "Maximum number of batches at once after a rest. Only used in batch mode."
    )
    audit_webhook_truncate_enabled: bool = _flag(_AUDITING, False, "Whether event and batch truncating is enabled.")
    audit_webhook_truncate_max_event_size: Positive = _flag(
        _AUDITING,
        102400,
        "Maximum size of an event. Of a bigger one the request and response are removed, and if that is not enough, "
        "it is discarded.",
    )
    audit_webhook_truncate_max_batch_size: Positive = _flag(
        _AUDITING, 10485760, "Maximum size of a batch; a bigger one is split."
    )

    profiling: bool = _flag(_FEATURES, True, "Enable profiling via web interface host:port/debug/pprof/.")
    logging_format: Annotated[str, one_of("text", "json")] = _flag(
        _LOGS, "text", "Sets the log format. Permitted formats: json, text."
    )
    v: Count = _flag(_LOGS, 0, "number for the log level verbosity", shorthand="v")

    enable_aggregator_routing: bool = _flag(
        _MISC,
        False,
        "Turns on aggregator routing requests to endpoints IP rather than cluster IP, as is "
        "needed where cluster IPs are not routed.",
    )
    aggregator_reject_forwarding_redirect: bool = _flag(
        _MISC, True, "Aggregator reject forwarding redirect response back to client."
    )
    proxy_client_cert_file: Path | None = _flag(
        _AUTHENTICATION,
        None,
        "Client certificate used to prove the identity of the aggregator when it must call out during a request to "
        "the servers behind APIServices. Without it they are shown none.",
    )
    proxy_client_key_file: Path | None = _flag(
        _AUTHENTICATION, None, "Private key for the client certificate of --proxy-client-cert-file."
    )
    allow_privileged: bool = _flag(_MISC, False, "If true, allow privileged containers.")
    kubelet_certificate_authority: Path | None = _flag(
        _MISC, None, "Path to a cert file for the certificate authority. Without it kubelets are not verified."
    )
    kubelet_client_certificate: Path | None = _flag(_MISC, None, "Path to a client cert file for TLS.")
    kubelet_client_key: Path | None = _flag(_MISC, None, "Path to a client key file for TLS.")
    kubelet_port: Port = _flag(_MISC, 10250, "The port of kubelets whose nodes do not say it.")
    kubelet_preferred_address_types: Strings = _flag(
        _MISC,
        ("Hostname", "InternalDNS", "InternalIP", "ExternalDNS", "ExternalIP"),
        "List of the preferred NodeAddressTypes to use for kubelet connections.",
    )
    kubelet_timeout: Duration = _flag(_MISC, 5.0, "Timeout for kubelet operations.")
    service_cluster_ip_range: tuple[Network, ...] = _flag(
        _MISC,
        (IPv4Network("10.0.0.0/24"),),
        "A CIDR notation IP range from which to assign service cluster IPs. Max of two dual-stack CIDRs is allowed.",
    )
    service_node_port_range: Ports = _flag(
        _MISC,
        "30000-32767",
        "A port range to reserve for services with NodePort visibility. Inclusive at both ends of the range.",
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        settings_checks.check(self)
        return self

    @property
    def emulated(self) -> gates.Version:
        """The version of Kubernetes that the server reports."""
        return emulated_versions.parse(self.emulated_version)

    @property
    def backend(self) -> str:
        """The storage backend in use."""
        return self.storage_backend or ("etcd3" if self.etcd_servers else "sqlite")

    @property
    def pki_dir(self) -> Path:
        return self.cert_dir or self.data_dir / "pki"

    @property
    def kubeconfig_file(self) -> Path:
        return self.write_kubeconfig or self.data_dir / "admin.kubeconfig"
