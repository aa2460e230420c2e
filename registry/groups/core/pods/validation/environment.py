"""Environment: validates `env` and `envFrom` of a container. Pure."""

from collections.abc import Callable, Mapping, Sequence

from aio_apiserver.registry.base.validation import field, names
from aio_apiserver.registry.groups.core.config.data import check_key
from aio_apiserver.registry.groups.core.pods.validation import downward_api, rules
from aio_apiserver.registry.groups.core.pods.validation.rules import Errors, Obj

_NAME = "a valid environment variable name must consist only of printable ASCII characters other than '='"
_NO_SOURCE = "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`"
_NO_SET = "must specify one of: `configMapRef` or `secretRef`"
_MANY = "may not have more than one field specified at a time"
_VALUE_TOO = "may not be specified when `value` is not empty"


def validate(variables: Sequence[Obj], path: str) -> Errors:
    """The errors of `env`."""
    errors: Errors = []
    for index, variable in enumerate(variables):
        name, here = variable.get("name", ""), f"{path}[{index}]"
        errors += _validate_name(name, f"{here}.name") if name else [field.required(f"{here}.name")]
        if variable.get("valueFrom") is not None:
            errors += _validate_reference(variable, f"{here}.valueFrom")
    return errors


def validate_sets(sources: Sequence[Obj], path: str) -> Errors:
    """The errors of `envFrom`, which takes all keys of a config map or a secret."""
    errors: Errors = []
    for index, source in enumerate(sources):
        here = f"{path}[{index}]"
        if source.get("prefix"):
            errors += _validate_name(source["prefix"], f"{here}.prefix")
        given = [member for member in ("configMapRef", "secretRef") if source.get(member) is not None]
        for member in given:
            errors += _validate_set(source[member], f"{here}.{member}")
        if len(given) != 1:
            errors.append(field.invalid(path, "", _MANY if given else _NO_SET))
    return errors


def validate_file_volumes(spec: Obj, path: str) -> Errors:
    """The errors of fileKeyRef: its volume must be an emptyDir of the pod."""
    errors: Errors = []
    volumes = {volume.get("name", ""): volume for volume in spec.get("volumes") or ()}
    for container, place in rules.each_container(spec, path):
        for index, variable in enumerate(container.get("env") or ()):
            file = (variable.get("valueFrom") or {}).get("fileKeyRef")
            if file is None:
                continue
            name, here = file.get("volumeName", ""), f"{place}.env[{index}].valueFrom.fileKeyRef.volumeName"
            if name not in volumes:
                errors.append(field.not_found(here, name))
            elif volumes[name].get("emptyDir") is None:
                errors.append(field.invalid(here, name, "referenced volume must be of type emptyDir"))
    return errors


def _validate_name(name: str, path: str) -> Errors:
    is_printable = name.isascii() and name.isprintable() and "=" not in name
    return [] if is_printable else [field.invalid(path, name, _NAME)]


def _validate_reference(variable: Obj, path: str) -> Errors:
    source = variable["valueFrom"]
    given = [member for member in _REFERENCES if source.get(member) is not None]
    errors = [error for member in given for error in _REFERENCES[member](source[member], f"{path}.{member}")]
    if not given:
        errors.append(field.invalid(path, "", _NO_SOURCE))
    elif variable.get("value"):
        errors.append(field.invalid(path, "", _VALUE_TOO))
    elif len(given) > 1:
        errors.append(field.invalid(path, "", _MANY))
    return errors


def _validate_field(source: Obj, path: str) -> Errors:
    return downward_api.validate_field(source, path, allowed=downward_api.IN_ENVIRONMENT)


def _validate_resource(source: Obj, path: str) -> Errors:
    return downward_api.validate_resource(source, path, is_in_volume=False)


def _validate_key(source: Obj, path: str) -> Errors:
    """The errors of a key in a config map or a secret."""
    name, key = source.get("name", ""), source.get("key", "")
    errors = rules.subdomain(name, f"{path}.name")
    if not key:
        return [*errors, field.required(f"{path}.key")]
    return errors + field.invalid_each(f"{path}.key", key, check_key(key))


def _validate_file(source: Obj, path: str) -> Errors:
    """The errors of a variable that is read from a file in a volume."""
    errors: Errors = []
    for member, check in _FILE_RULES.items():
        value, here = source.get(member, ""), f"{path}.{member}"
        errors += check(value, here) if value else [field.required(here)]
    return errors


_FILE_RULES: Mapping[str, Callable[[str, str], Errors]] = {
    "key": _validate_name,
    "volumeName": rules.label,
    "path": rules.path_without_backsteps,
}

_REFERENCES: Mapping[str, Callable[[Obj, str], Errors]] = {
    "fieldRef": _validate_field,
    "resourceFieldRef": _validate_resource,
    "configMapKeyRef": _validate_key,
    "secretKeyRef": _validate_key,
    "fileKeyRef": _validate_file,
}


def _validate_set(source: Obj, path: str) -> Errors:
    name = source.get("name", "")
    if not name:
        return [field.required(f"{path}.name")]
    # A name that ends with a dash passes, because the rule for prefixes of names is used, as in kube-apiserver.
    return field.invalid_each(f"{path}.name", name, names.is_dns_subdomain(name, True))
