"""Network: validates DNS, host names, host aliases and host ports of a pod. Pure."""

from collections.abc import Sequence

from aio_apiserver.registry.base.validation import addresses, field, names
from aio_apiserver.registry.groups.core.pods.validation import rules
from aio_apiserver.registry.groups.core.pods.validation.options import PodOptions
from aio_apiserver.registry.groups.core.pods.validation.rules import Errors, Obj

DNS_POLICIES = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
_MOST_SERVERS = 3
_MOST_SEARCHES = 32
_MOST_CHARACTERS = 2048
_LONGEST_HOSTNAME = 64


def validate_dns(config: Obj | None, policy: str, path: str) -> Errors:
    """The errors of dnsConfig, which the dnsPolicy None requires."""
    servers = (config or {}).get("nameservers") or ()
    if policy == "None":
        if config is None:
            return [field.required(path, "must provide `dnsConfig` when `dnsPolicy` is None")]
        if not servers:
            why = "must provide at least one DNS nameserver when `dnsPolicy` is None"
            return [field.required(f"{path}.nameservers", why)]
    if config is None:
        return []
    return _validate_servers(servers, f"{path}.nameservers") + _validate_searches_and_options(config, path)


def _validate_servers(servers: Sequence[str], path: str) -> Errors:
    errors: Errors = []
    if len(servers) > _MOST_SERVERS:
        errors.append(field.invalid(path, list(servers), f"must not have more than {_MOST_SERVERS} nameservers"))
    for index, server in enumerate(servers):
        errors += addresses.validate_legacy(server, f"{path}[{index}]")
    return errors


def _validate_searches_and_options(config: Obj, path: str) -> Errors:
    searches, here = config.get("searches") or (), f"{path}.searches"
    errors: Errors = []
    if len(searches) > _MOST_SEARCHES:
        errors.append(field.invalid(here, list(searches), f"must not have more than {_MOST_SEARCHES} search paths"))
    if len(" ".join(searches).encode()) > _MOST_CHARACTERS:
        why = f"must not have more than {_MOST_CHARACTERS} characters (including spaces) in the search list"
        errors.append(field.invalid(here, list(searches), why))
    for index, search in enumerate(searches):
        if search != ".":
            name = search.removesuffix(".")
            errors += field.invalid_each(f"{here}[{index}]", name, names.DNS1123_SUBDOMAIN_WITH_UNDERSCORE.check(name))
    for index, option in enumerate(config.get("options") or ()):
        if not option.get("name"):
            errors.append(field.required(f"{path}.options[{index}]", "must not be empty"))
    return errors


def validate_hostname_override(spec: Obj, path: str) -> Errors:
    """The errors of hostnameOverride, which replaces all other host names."""
    name, here = spec.get("hostnameOverride"), f"{path}.hostnameOverride"
    if name is None:
        return []
    errors: Errors = []
    for member in ("setHostnameAsFQDN", "hostNetwork"):
        if spec.get(member):
            errors.append(field.forbidden(here, f"may not be specified when {member} is true"))
    if len(name.encode()) > _LONGEST_HOSTNAME:
        errors.append(field.too_long(here, _LONGEST_HOSTNAME))
    return errors + rules.subdomain(name, here)


def validate_aliases(aliases: Sequence[Obj], path: str) -> Errors:
    """The errors of hostAliases, which become lines of /etc/hosts."""
    errors: Errors = []
    for index, alias in enumerate(aliases):
        here = f"{path}[{index}]"
        errors += addresses.validate_legacy(alias.get("ip", ""), f"{here}.ip")
        for number, name in enumerate(alias.get("hostnames") or ()):
            errors += rules.subdomain(name, f"{here}.hostnames[{number}]")
    return errors


def validate_host_network(spec: Obj, path: str, *, options: PodOptions) -> Errors:
    """The errors of host ports on the host network: they equal the container ports. A pod template may leave them
    out.
    """
    if not spec.get("hostNetwork"):
        return []
    why = "must match `containerPort` when `hostNetwork` is true"
    errors: Errors = []
    for number, container in enumerate(spec.get("containers") or ()):
        for index, port in enumerate(container.get("ports") or ()):
            of_host, of_container = port.get("hostPort") or 0, port.get("containerPort") or 0
            if (options.is_pod or of_host) and of_host != of_container:
                errors.append(field.invalid(f"{path}.containers[{number}].ports[{index}].hostPort", of_host, why))
    return errors
