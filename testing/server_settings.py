"""server_settings: the flags of a test's server by their names in Python, for editors and type checkers.

`python -m tests.testing.settings_source` writes this table. docs/flags.md says what each flag does.
Must hold: it has every setting that takes effect in a test.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypedDict


class ServerSettings(TypedDict, total=False):
    """The settings of a Server. A flag that takes several values also takes a single one."""

    advertise_address: str
    external_hostname: str
    max_requests_inflight: int
    max_mutating_requests_inflight: int
    request_timeout: float | str
    emulated_version: str | Sequence[str]
    feature_gates: str | Sequence[str]
    runtime_config: str | Sequence[str]
    enable_priority_and_fairness: bool
    min_request_timeout: int
    livez_grace_period: float | str
    shutdown_delay_duration: float | str
    shutdown_watch_termination_grace_period: float | str
    kubernetes_version: str
    data_dir: Path | str
    insecure_port: int
    workers: int
    max_connections: int
    max_connections_per_address: int
    max_connections_per_user: int
    controllers: str | Sequence[str]
    kube_api_qps: float
    kube_api_burst: int
    concurrent_cron_job_syncs: int
    concurrent_daemonset_syncs: int
    concurrent_deployment_syncs: int
    concurrent_endpoint_syncs: int
    concurrent_gc_syncs: int
    concurrent_job_syncs: int
    concurrent_namespace_syncs: int
    concurrent_rc_syncs: int
    concurrent_replicaset_syncs: int
    concurrent_resource_quota_syncs: int
    concurrent_service_endpoint_syncs: int
    concurrent_statefulset_syncs: int
    concurrent_ttl_after_finished_syncs: int
    testing: bool
    testing_faults: Path | str
    simulate: bool
    simulate_nodes: int
    simulate_local_processes: bool
    ui: bool
    write_kubeconfig: Path | str
    etcd_servers: str | Sequence[str]
    etcd_cafile: Path | str
    etcd_certfile: Path | str
    etcd_keyfile: Path | str
    etcd_prefix: str
    etcd_servers_overrides: str | Sequence[str]
    etcd_compaction_interval: float | str
    etcd_db_metric_poll_interval: float | str
    storage_backend: str
    storage_media_type: str
    store_quota_bytes: int
    encryption_provider_config: Path | str
    encryption_provider_config_automatic_reload: bool
    event_ttl: float | str
    delete_collection_workers: int
    lease_reuse_duration_seconds: int
    watch_cache: bool
    watch_cache_sizes: str | Sequence[str]
    bind_address: str
    secure_port: int
    cert_dir: Path | str
    tls_cert_file: Path | str
    tls_private_key_file: Path | str
    tls_min_version: str
    tls_cipher_suites: str | Sequence[str]
    permit_port_sharing: bool
    anonymous_auth: bool
    client_ca_file: Path | str
    token_auth_file: Path | str
    service_account_issuer: str | Sequence[str]
    service_account_key_file: str | Sequence[str]
    service_account_signing_key_file: Path | str
    service_account_max_token_expiration: float | str
    service_account_extend_token_expiration: bool
    service_account_lookup: bool
    service_account_jwks_uri: str
    api_audiences: str | Sequence[str]
    authentication_config: Path | str
    authentication_token_webhook_config_file: Path | str
    authentication_token_webhook_version: str
    authentication_token_webhook_cache_ttl: float | str
    enable_bootstrap_token_auth: bool
    oidc_issuer_url: str
    oidc_client_id: str
    oidc_ca_file: Path | str
    oidc_username_claim: str
    oidc_username_prefix: str
    oidc_groups_claim: str
    oidc_groups_prefix: str
    oidc_required_claim: Mapping[str, str]
    oidc_signing_algs: str | Sequence[str]
    requestheader_client_ca_file: Path | str
    requestheader_allowed_names: str | Sequence[str]
    requestheader_username_headers: str | Sequence[str]
    requestheader_uid_headers: str | Sequence[str]
    requestheader_group_headers: str | Sequence[str]
    requestheader_extra_headers_prefix: str | Sequence[str]
    proxy_client_cert_file: Path | str
    proxy_client_key_file: Path | str
    authorization_config: Path | str
    authorization_policy_file: Path | str
    authorization_webhook_config_file: Path | str
    authorization_webhook_version: str
    authorization_webhook_cache_authorized_ttl: float | str
    authorization_webhook_cache_unauthorized_ttl: float | str
    authorization_mode: str | Sequence[str]
    enable_admission_plugins: str | Sequence[str]
    disable_admission_plugins: str | Sequence[str]
    admission_control_config_file: Path | str
    default_not_ready_toleration_seconds: int
    default_unreachable_toleration_seconds: int
    audit_policy_file: Path | str
    audit_log_path: Path | str
    audit_log_format: str
    audit_log_version: str
    audit_log_maxage: int
    audit_log_maxbackup: int
    audit_log_maxsize: int
    audit_log_compress: bool
    audit_log_mode: str
    audit_log_batch_buffer_size: int
    audit_log_batch_max_size: int
    audit_log_batch_max_wait: float | str
    audit_log_batch_throttle_enable: bool
    audit_log_batch_throttle_qps: float
    audit_log_batch_throttle_burst: int
    audit_log_truncate_enabled: bool
    audit_log_truncate_max_event_size: int
    audit_log_truncate_max_batch_size: int
    audit_webhook_config_file: Path | str
    audit_webhook_version: str
    audit_webhook_initial_backoff: float | str
    audit_webhook_mode: str
    audit_webhook_batch_buffer_size: int
    audit_webhook_batch_max_size: int
    audit_webhook_batch_max_wait: float | str
    audit_webhook_batch_throttle_enable: bool
    audit_webhook_batch_throttle_qps: float
    audit_webhook_batch_throttle_burst: int
    audit_webhook_truncate_enabled: bool
    audit_webhook_truncate_max_event_size: int
    audit_webhook_truncate_max_batch_size: int
    profiling: bool
    v: int
    vmodule: str | Sequence[str]
    tracing_config_file: Path | str
    enable_aggregator_routing: bool
    aggregator_reject_forwarding_redirect: bool
    allow_privileged: bool
    kubelet_certificate_authority: Path | str
    kubelet_client_certificate: Path | str
    kubelet_client_key: Path | str
    kubelet_port: int
    kubelet_preferred_address_types: str | Sequence[str]
    kubelet_timeout: float | str
    service_cluster_ip_range: str | Sequence[str]
    service_node_port_range: str
