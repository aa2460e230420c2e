"""Volume sources: validates the source of a volume, with one rule for each type, in kube-apiserver's order.

The table names the required fields of simple sources. projected.py has projected volumes, and claims.py the claim
templates of ephemeral volumes. Pure.
"""

import re
from collections.abc import Callable, Mapping

from msgspec import Struct

from aio_apiserver.registry.base.validation import field, names
from aio_apiserver.registry.groups.core.pods.validation import claims, projected, rules
from aio_apiserver.registry.groups.core.pods.validation.options import PodOptions
from aio_apiserver.registry.groups.core.pods.validation.rules import Errors, Obj


class Volume(Struct, frozen=True, kw_only=True):
    """The volume of a source: its name, and the name of its pod (empty for a template)."""

    name: str
    pod_name: str
    options: PodOptions


Check = Callable[[Obj, str, Volume], Errors]

PULL_POLICIES = ("Always", "IfNotPresent", "Never")
_HOST_PATH_TYPES = (
    "",
    "BlockDevice",
    "CharDevice",
    "Directory",
    "DirectoryOrCreate",
    "File",
    "FileOrCreate",
    "Socket",
)
_PARTITION = "must be between 1 and 255, inclusive"
_LUN = "must be between 0 and 255, inclusive"
_ISCSI_FORMATS = {
    "iqn": re.compile(r"iqn\.\d{4}-\d{2}\.[A-Za-z0-9.-]+:[^,;*&$|\s]+\Z", re.ASCII),
    "eui": re.compile(r"\Aeui.[A-Za-z0-9]{16}\Z"),
    "naa": re.compile(r"\Anaa.[A-Za-z0-9]{32}\Z"),
}
_ISCSI_LIMIT = 64
_ISCSI_TOO_LONG = (
    "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters "
    "if iscsi.initiatorName is specified."
)
_HOSTS = "must be a host:port pair or multiple pairs separated by commas"
_TENANT = "must be a UUID and may not exceed a length of 64 characters"
_CACHING_MODES = ("None", "ReadOnly", "ReadWrite")
_DISK_KINDS = ("Dedicated", "Managed", "Shared")
_DISK_URIS = {
    True: (
        "/subscriptions/",
        "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}",
    ),
    False: ("https://", "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"),
}
"""For managed and unmanaged disks: the prefix of the disk URI, and its pattern."""
_DRIVER_LIMIT = 63


def _needs(*members: str) -> Check:
    """A check for a source that has required fields and no further rules."""

    def check(source: Obj, path: str, _volume: Volume) -> Errors:
        return rules.required(source, path, *members)

    return check


def _empty_dir(source: Obj, path: str, _volume: Volume) -> Errors:
    limit = source.get("sizeLimit")
    if limit is None or not str(limit).startswith("-"):
        return []
    return [field.forbidden(f"{path}.sizeLimit", "SizeLimit field must be a valid resource quantity")]


def _host_path(source: Obj, path: str, _volume: Volume) -> Errors:
    if not source.get("path"):
        return [field.required(f"{path}.path")]
    errors = rules.path_without_backsteps(source["path"], f"{path}.path")
    return errors + rules.word(source, path, "type", _HOST_PATH_TYPES)


def _git_repo(source: Obj, path: str, _volume: Volume) -> Errors:
    errors = rules.required(source, path, "repository")
    return errors + rules.relative_path(source.get("directory", ""), f"{path}.directory")


def _gce_disk(source: Obj, path: str, _volume: Volume) -> Errors:
    here = f"{path.removesuffix('.gcePersistentDisk')}.persistentDisk"
    return rules.required(source, here, "pdName") + _partition(source, here)


def _aws_disk(source: Obj, path: str, _volume: Volume) -> Errors:
    return rules.required(source, path, "volumeID") + _partition(source, path)


def _partition(source: Obj, path: str) -> Errors:
    partition = source.get("partition") or 0
    return [] if 0 <= partition <= 255 else [field.invalid(f"{path}.partition", partition, _PARTITION)]


def _secret(source: Obj, path: str, _volume: Volume) -> Errors:
    return rules.required(source, path, "secretName") + _files(source, path)


def _config_map(source: Obj, path: str, _volume: Volume) -> Errors:
    return rules.required(source, path, "name") + _files(source, path)


def _files(source: Obj, path: str) -> Errors:
    errors = rules.file_mode(source, path, "defaultMode")
    for index, item in enumerate(source.get("items") or ()):
        errors += projected.validate_key_to_path(item, f"{path}.items[{index}]")
    return errors


def _nfs(source: Obj, path: str, _volume: Volume) -> Errors:
    errors = rules.required(source, path, "server", "path")
    if not source.get("path", "").startswith("/"):
        errors.append(field.invalid(f"{path}.path", source.get("path", ""), "must be an absolute path"))
    return errors


def _iscsi(source: Obj, path: str, _volume: Volume) -> Errors:
    errors = rules.required(source, path, "targetPortal", "iqn")
    if source.get("iqn"):
        errors += _iscsi_format(source["iqn"], f"{path}.iqn")
    lun = source.get("lun") or 0
    if not 0 <= lun <= 255:
        errors.append(field.invalid(f"{path}.lun", lun, _LUN))
    needs_secret = source.get("chapAuthDiscovery") or source.get("chapAuthSession")
    if needs_secret and source.get("secretRef") is None:
        errors.append(field.required(f"{path}.secretRef"))
    if source.get("initiatorName") is not None:
        errors += _iscsi_format(source["initiatorName"], f"{path}.initiatorname")
    return errors


def _iscsi_format(name: str, path: str) -> Errors:
    pattern = _ISCSI_FORMATS.get(name[:3])
    if pattern is None:
        return [field.invalid(path, name, "must be valid format starting with iqn, eui, or naa")]
    return [] if pattern.search(name) else [field.invalid(path, name, "must be valid format")]


def validate_iscsi_name(source: Obj, path: str, volume: Volume) -> Errors:
    """The error for a volume name and portal that are too long together. They name the interface of the iSCSI
    initiator.
    """
    length = len(f"{volume.name}:{source.get('targetPortal', '')}".encode())
    if source.get("initiatorName") is None or length <= _ISCSI_LIMIT:
        return []
    return [field.invalid(f"{path}.name", volume.name, _ISCSI_TOO_LONG)]


def _flocker(source: Obj, path: str, _volume: Volume) -> Errors:
    name, uuid = source.get("datasetName", ""), source.get("datasetUUID", "")
    rows = (
        (not name and not uuid, field.required(path, "one of datasetName and datasetUUID is required")),
        (
            name and uuid,
            field.invalid(path, "resource", "datasetName and datasetUUID can not be specified simultaneously"),
        ),
        ("/" in name, field.invalid(f"{path}.datasetName", name, "must not contain '/'")),
    )
    return [error for is_wrong, error in rows if is_wrong]


def _named_secret(source: Obj, path: str) -> Errors:
    secret = source.get("secretRef")
    return [] if secret is None else rules.required(secret, f"{path}.secretRef", "name")


def _cinder(source: Obj, path: str, _volume: Volume) -> Errors:
    return rules.required(source, path, "volumeID") + _named_secret(source, path)


def _quobyte(source: Obj, path: str, _volume: Volume) -> Errors:
    hosts = source.get("registry", "")
    if not hosts:
        errors = [field.required(f"{path}.registry", _HOSTS)]
    elif len(source.get("tenant", "").encode()) > 64:
        errors = [field.required(f"{path}.tenant", _TENANT)]
    else:
        errors = [field.invalid(f"{path}.registry", hosts, _HOSTS) for one in hosts.split(",") if not _is_host(one)]
    return errors + rules.required(source, path, "volume")


def _is_host(pair: str) -> bool:
    """Whether the text is host:port, with brackets around an IPv6 address."""
    host, colon, _port = pair.rpartition(":")
    is_bracketed = host.startswith("[") and host.endswith("]") and "[" not in host[1:] and "]" not in host[:-1]
    return bool(colon) and (is_bracketed or not set(host) & set(":[]")) and not set(_port) & set("[]")


def _fibre_channel(source: Obj, path: str, _volume: Volume) -> Errors:
    names_of_targets, world_wide = source.get("targetWWNs") or (), source.get("wwids") or ()
    errors: Errors = []
    if not names_of_targets and not world_wide:
        errors.append(field.required(f"{path}.targetWWNs", "must specify either targetWWNs or wwids, but not both"))
    if names_of_targets and world_wide:
        why = "targetWWNs and wwids can not be specified simultaneously"
        errors.append(field.invalid(f"{path}.targetWWNs", list(names_of_targets), why))
    if names_of_targets:
        lun = source.get("lun")
        if lun is None:
            errors.append(field.required(f"{path}.lun", "lun is required if targetWWNs is specified"))
        elif not 0 <= lun <= 255:
            errors.append(field.invalid(f"{path}.lun", lun, _LUN))
    return errors


def _flex_volume(source: Obj, path: str, _volume: Volume) -> Errors:
    why = "kubernetes.io and k8s.io namespaces are reserved"
    return rules.required(source, path, "driver") + [
        field.invalid(f"{path}.options[{key}]", key, why)
        for key in source.get("options") or {}
        if f".{key.partition('/')[0].lower()}".endswith((".kubernetes.io", ".k8s.io"))
    ]


def _azure_disk(source: Obj, path: str, _volume: Volume) -> Errors:
    errors = rules.required(source, path, "diskName", "diskURI")
    errors += rules.word(source, path, "cachingMode", _CACHING_MODES)
    errors += rules.word(source, path, "kind", _DISK_KINDS)
    kind, uri = source.get("kind"), source.get("diskURI", "")
    if kind is not None:
        beginning, example = _DISK_URIS[kind == "Managed"]
        if not uri.startswith(beginning):
            errors.append(field.not_supported(f"{path}.diskURI", uri, (example,)))
    return errors


def _storage_os(source: Obj, path: str, _volume: Volume) -> Errors:
    errors = rules.required(source, path, "volumeName")
    for member in ("volumeName", "volumeNamespace"):
        if source.get(member):
            errors += rules.label(source[member], f"{path}.{member}")
    return errors + _named_secret(source, path)


def _csi(source: Obj, path: str, _volume: Volume) -> Errors:
    errors = validate_csi_driver(source.get("driver", ""), f"{path}.driver")
    secret = source.get("nodePublishSecretRef")
    if secret is not None:
        name = secret.get("name", "")
        errors += (
            rules.subdomain(name, f"{path}.name") if name else [field.required(f"{path}.nodePublishSecretRef.name")]
        )
    return errors


def validate_csi_driver(driver: str, path: str) -> Errors:
    """The errors of the name of a CSI driver."""
    if not driver:
        return [field.required(path)]
    errors = [field.too_long(path, _DRIVER_LIMIT)] if len(driver.encode()) > _DRIVER_LIMIT else []
    return errors + field.invalid_each(path, driver, names.is_dns_subdomain(driver.lower(), False))


def _ephemeral(source: Obj, path: str, volume: Volume) -> Errors:
    template = source.get("volumeClaimTemplate")
    if template is None:
        errors = [field.required(f"{path}.volumeClaimTemplate")]
    else:
        empties = volume.options.empties
        errors = claims.validate_template(template, f"{path}.volumeClaimTemplate", empties=empties)
    if volume.pod_name and volume.name:
        claim = f"{volume.pod_name}-{volume.name}"
        errors += [
            field.invalid(f"{path.removesuffix('.ephemeral')}.name", volume.name, f'PVC name "{claim}": {message}')
            for message in names.is_dns_subdomain(claim, False)
        ]
    return errors


def _image(source: Obj, path: str, volume: Volume) -> Errors:
    errors = rules.required(source, path, "reference") if volume.options.is_pod else []
    return errors + rules.required_word(source, path, "pullPolicy", PULL_POLICIES)


def _projected(source: Obj, path: str, volume: Volume) -> Errors:
    return projected.validate_projected(source, path, options=volume.options)


def _downward(source: Obj, path: str, _volume: Volume) -> Errors:
    return projected.validate_downward(source, path)


SOURCES: Mapping[str, Check] = {
    "emptyDir": _empty_dir,
    "hostPath": _host_path,
    "gitRepo": _git_repo,
    "gcePersistentDisk": _gce_disk,
    "awsElasticBlockStore": _aws_disk,
    "secret": _secret,
    "nfs": _nfs,
    "iscsi": _iscsi,
    "glusterfs": _needs("endpoints", "path"),
    "flocker": _flocker,
    "persistentVolumeClaim": _needs("claimName"),
    "rbd": _needs("monitors", "image"),
    "cinder": _cinder,
    "cephfs": _needs("monitors"),
    "quobyte": _quobyte,
    "downwardAPI": _downward,
    "fc": _fibre_channel,
    "flexVolume": _flex_volume,
    "configMap": _config_map,
    "azureFile": _needs("secretName", "shareName"),
    "vsphereVolume": _needs("volumePath"),
    "photonPersistentDisk": _needs("pdID"),
    "portworxVolume": _needs("volumeID"),
    "azureDisk": _azure_disk,
    "storageos": _storage_os,
    "projected": _projected,
    "scaleIO": _needs("gateway", "system", "volumeName"),
    "csi": _csi,
    "ephemeral": _ephemeral,
    "image": _image,
}
