"""Settings checks: checks of settings that depend on each other. Each raises ValueError.

setting_types.py checks single values.
"""

from ipaddress import ip_address
from typing import TYPE_CHECKING

from aio_apiserver.apiserver.config import issuer_urls
from aio_apiserver.controllers import names as controller_names
from aio_apiserver.registry.base import minors
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.controlplane import admission_plugins

if TYPE_CHECKING:
    from aio_apiserver.apiserver.config.settings import Settings

_PAIRS = (
    ("tls_cert_file", "tls_private_key_file"),
    ("etcd_certfile", "etcd_keyfile"),
    ("kubelet_client_certificate", "kubelet_client_key"),
    ("proxy_client_cert_file", "proxy_client_key_file"),
)
_LEAST_ADDRESSES = 8
_LEAST_EXPIRATION = 3600.0
_FLAGS_OF_MODES = frozenset(
    {
        "authorization_mode",
        "authorization_webhook_config_file",
        "authorization_webhook_version",
        "authorization_webhook_cache_authorized_ttl",
        "authorization_webhook_cache_unauthorized_ttl",
    }
)


def check(settings: "Settings") -> None:
    """Run all checks. Raises ValueError for the first error."""
    for check_one in _CHECKS:
        check_one(settings)


def _version(settings: "Settings") -> None:
    minors.parse(settings.kubernetes_version)


def _pairs(settings: "Settings") -> None:
    for one, other in _PAIRS:
        if (getattr(settings, one) is None) != (getattr(settings, other) is None):
            names = (f"--{name.replace('_', '-')}" for name in (one, other))
            raise ValueError(f"{' and '.join(names)} must be given together")


def _controllers(settings: "Settings") -> None:
    for name in controller_names.unknown(settings.controllers):
        raise ValueError(f"{quote(name)} is not in the list of known controllers")


def _testing(settings: "Settings") -> None:
    if settings.testing_faults is not None and not settings.testing:
        raise ValueError("--testing-faults needs --testing")
    if settings.testing and settings.workers > 1:
        raise ValueError("--testing cannot be used with several --workers")


def _simulation(settings: "Settings") -> None:
    if not settings.simulate_local_processes:
        return
    if not settings.simulate:
        raise ValueError("--simulate-local-processes needs --simulate")
    if not ip_address(settings.bind_address).is_loopback:
        raise ValueError("--simulate-local-processes needs --bind-address=127.0.0.1: it runs commands on this machine")


def _storage(settings: "Settings") -> None:
    if settings.storage_backend == "etcd3" and not settings.etcd_servers:
        raise ValueError("--etcd-servers must be specified")
    if settings.storage_backend in ("sqlite", "memory") and settings.etcd_servers:
        raise ValueError(f"--storage-backend={settings.storage_backend} cannot be used with --etcd-servers")
    if settings.encryption_provider_config_automatic_reload and settings.encryption_provider_config is None:
        raise ValueError("--encryption-provider-config-automatic-reload must be set with --encryption-provider-config")


def _authorization(settings: "Settings") -> None:
    modes = settings.authorization_mode
    if not modes:
        raise ValueError("at least one authorization-mode must be passed")
    if settings.authorization_config is not None and _FLAGS_OF_MODES & settings.model_fields_set:
        raise ValueError(
            "--authorization-config can not be specified when --authorization-mode or "
            "--authorization-webhook-* flags are defined"
        )
    if len(set(modes)) < len(modes):
        listed = " ".join(map(quote, modes))
        raise ValueError(f"authorization-mode [{listed}] has mode specified more than once")


def _authentication(settings: "Settings") -> None:
    if bool(settings.oidc_issuer_url) is not bool(settings.oidc_client_id):
        why = "oidc-issuer-url and oidc-client-id must be specified together when any oidc flags are set"
        raise ValueError(why)
    own = settings.service_account_issuer
    if settings.oidc_issuer_url and (wrong := issuer_urls.problem(settings.oidc_issuer_url, own=own)):
        raise ValueError(f"oidc-issuer-url: {wrong}")
    if settings.oidc_issuer_url and settings.authentication_config is not None:
        raise ValueError("authentication-config file and oidc-* flags are mutually exclusive")
    if settings.requestheader_client_ca_file is not None and not settings.requestheader_username_headers:
        raise ValueError("--requestheader-client-ca-file needs --requestheader-username-headers")


def _service_accounts(settings: "Settings") -> None:
    if not settings.service_account_issuer or "" in settings.service_account_issuer:
        raise ValueError("service-account-issuer is a required flag")
    if 0 < settings.service_account_max_token_expiration < _LEAST_EXPIRATION:
        raise ValueError("the service-account-max-token-expiration must be between 1 hour and 2^32 seconds")


def _features(settings: "Settings") -> None:
    settings.minor.check()


def _flow_control(settings: "Settings") -> None:
    reading, changing = settings.max_requests_inflight, settings.max_mutating_requests_inflight
    if settings.enable_priority_and_fairness and not reading + changing:
        raise ValueError(
            f"invalid configuration: MaxRequestsInFlight={reading} and MaxMutatingRequestsInFlight={changing}; "
            "they must add up to something positive"
        )


def _admission(settings: "Settings") -> None:
    for flag in ("enable_admission_plugins", "disable_admission_plugins"):
        for name in getattr(settings, flag):
            if name not in admission_plugins.names_at(settings.minor.version):
                raise ValueError(f"{flag.replace('_', '-')} plugin {quote(name)} is unknown")
    if both := set(settings.enable_admission_plugins) & set(settings.disable_admission_plugins):
        listed = " ".join(sorted(both))
        raise ValueError(f"[{listed}] in enable-admission-plugins and disable-admission-plugins overlapped")


def _audit(settings: "Settings") -> None:
    for name in ("log", "webhook"):
        event, batch = (getattr(settings, f"audit_{name}_truncate_max_{what}_size") for what in ("event", "batch"))
        if batch < event:
            why = f"must be greater than max event size ({event})"
            raise ValueError(f"invalid audit truncate {name} max batch size {batch}, {why}")
        if not getattr(settings, f"audit_{name}_batch_throttle_enable"):
            continue
        for what in ("qps", "burst"):
            if not (value := getattr(settings, f"audit_{name}_batch_throttle_{what}")):
                raise ValueError(f"invalid audit batch {name} throttle {what} {value}, must be a positive number")


def _service_ranges(settings: "Settings") -> None:
    networks = settings.service_cluster_ip_range
    if not networks:
        raise ValueError("--service-cluster-ip-range must contain at least one valid cidr")
    if len(networks) > 2:
        raise ValueError("--service-cluster-ip-range must not contain more than two entries")
    if len({network.version for network in networks}) < len(networks):
        flag = "--service-cluster-ip-range"
        raise ValueError(f"{flag}[0] and {flag}[1] must be of different IP family")
    for place, network in zip(("primary", "secondary"), networks, strict=False):
        if network.num_addresses < _LEAST_ADDRESSES:
            why = f"the service cluster IP range must be at least {_LEAST_ADDRESSES} IP addresses"
            raise ValueError(f"error determining service IP ranges for {place} service cidr: {why}")


_CHECKS = (
    _version,
    _pairs,
    _controllers,
    _testing,
    _simulation,
    _storage,
    _authorization,
    _authentication,
    _service_accounts,
    _features,
    _flow_control,
    _admission,
    _audit,
    _service_ranges,
)
