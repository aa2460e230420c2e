"""Registry config: the registry's configuration, made from the settings."""

import logging

from aio_apiserver.apiserver.config import admission_config
from aio_apiserver.apiserver.config.flags import port_range
from aio_apiserver.apiserver.config.settings import Settings
from aio_apiserver.registry.controlplane.providers import beta_versions
from aio_apiserver.registry.generic import enablement
from aio_apiserver.registry.generic.config import Config
from aio_apiserver.registry.generic.enablement import Enablement
from aio_apiserver.registry.machinery.schema import builtin

logger = logging.getLogger(__name__)

_SIMULATED_DELETIONS = 16
"""As many deletions share one commit of the store. One after the other, 10,000 pods take longer than a request may."""


def config_of(settings: Settings) -> Config:
    """The configuration of the registry."""
    return Config(
        service_cluster_ip_ranges=settings.service_cluster_ip_range,
        service_node_ports=port_range.parse(settings.service_node_port_range),
        allow_privileged=settings.allow_privileged,
        kubelet_port=settings.kubelet_port,
        kubelet_address_types=settings.kubelet_preferred_address_types,
        enabled_admission=settings.enable_admission_plugins,
        disabled_admission=settings.disable_admission_plugins,
        admission_configuration=admission_config.load(settings.admission_control_config_file),
        event_ttl_seconds=int(settings.event_ttl),
        deletes_unreadable=settings.minor.is_open("AllowUnsafeMalformedObjectDeletion"),
        delete_collection_workers=_deletion_workers(settings),
        not_ready_toleration_seconds=settings.default_not_ready_toleration_seconds,
        unreachable_toleration_seconds=settings.default_unreachable_toleration_seconds,
        enablement=_enablement(settings),
        simulates=settings.simulate,
        traces_admission=settings.has_console,
    )


def _deletion_workers(settings: Settings) -> int:
    """How many objects of a collection are deleted at a time. Simulated clusters are large, and their pods end soon."""
    is_given = "delete_collection_workers" in settings.model_fields_set
    return _SIMULATED_DELETIONS if settings.simulate and not is_given else settings.delete_collection_workers


def _enablement(settings: Settings) -> Enablement:
    """The enabled built-in resources. Raises ValueError."""
    if not settings.runtime_config:
        return Enablement()
    given = {key.strip(): value.strip() for key, _, value in (one.partition("=") for one in settings.runtime_config)}
    found = enablement.parse(given, builtin(settings.minor.text).versions)
    for version in found.unserved(beta_versions(settings.minor)):
        logger.warning("--runtime-config: this server has no %s", version)
    return found
