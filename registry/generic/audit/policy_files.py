"""policy_files: reads and validates an audit.k8s.io/v1 Policy.

Pure. Must hold: a policy that is returned is valid. All errors come at once, with kube-apiserver's messages.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from aio_apiserver.registry.base.validation import field, names
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.generic.access.authorizer import joined
from aio_apiserver.registry.generic.audit.levels import LEVELS, STAGES, Level
from aio_apiserver.registry.generic.audit.policy import GroupResources, Policy, Recording, Rule

Written = Mapping[str, Any]

_LISTS = ("users", "userGroups", "verbs", "resources", "namespaces", "nonResourceURLs", "omitStages")
_MEMBERS = frozenset({"level", "omitManagedFields", *_LISTS})
_MEMBERS_OF_ALL = frozenset({"apiVersion", "kind", "metadata", "rules", "omitStages", "omitManagedFields"})
_MEMBERS_OF_RESOURCES = frozenset({"group", "resources", "resourceNames"})


def read(written: Written) -> Policy:
    """The policy. Raises ValueError."""
    _check_types(written)
    rules = written.get("rules") or ()
    wrong = [*_wrong_stages(written.get("omitStages") or (), "omitStages")]
    for number, rule in enumerate(rules):
        wrong += _wrong(rule, f"rules[{number}]")
    if wrong:
        raise ValueError(joined(list(dict.fromkeys(map(str, wrong)))))
    if not rules:
        raise ValueError("loaded illegal policy with 0 rules")
    otherwise = Recording(Level.NONE, _stages(written), bool(written.get("omitManagedFields")))
    return Policy([_rule(rule, otherwise) for rule in rules], otherwise)


def unknown_fields(written: Written) -> Iterator[str]:
    """The paths of unknown fields."""
    yield from (name for name in written if name not in _MEMBERS_OF_ALL)
    for number, rule in enumerate(written.get("rules") or ()):
        yield from (f"rules[{number}].{name}" for name in rule if name not in _MEMBERS)
        for index, one in enumerate(rule.get("resources") or ()):
            place = f"rules[{number}].resources[{index}]"
            yield from (f"{place}.{name}" for name in one if name not in _MEMBERS_OF_RESOURCES)


def _check_types(written: Written) -> None:
    """Check the types of all fields. Raises ValueError."""
    _check_bool(written, "")
    _check_strings(written, "omitStages", "")
    for number, rule in enumerate(_maps(written, "rules", "")):
        place = f"rules[{number}]."
        _check_text(rule, "level", place)
        _check_bool(rule, place)
        for name in _LISTS:
            if name != "resources":
                _check_strings(rule, name, place)
        for index, one in enumerate(_maps(rule, "resources", place)):
            inner = f"{place}resources[{index}]."
            _check_text(one, "group", inner)
            for name in ("resources", "resourceNames"):
                _check_strings(one, name, inner)


def _maps(written: Written, name: str, place: str) -> Sequence[Written]:
    given = written.get(name) or ()
    if not isinstance(given, list | tuple) or not all(isinstance(one, dict) for one in given):
        raise ValueError(f"{place}{name} must be a list of maps")
    return given


def _check_strings(written: Written, name: str, place: str) -> None:
    given = written.get(name) or ()
    if not isinstance(given, list | tuple) or not all(isinstance(one, str) for one in given):
        raise ValueError(f"{place}{name} must be a list of strings")


def _check_text(written: Written, name: str, place: str) -> None:
    if not isinstance(written.get(name), str | None):
        raise ValueError(f"{place}{name} must be a string")


def _check_bool(written: Written, place: str) -> None:
    if not isinstance(written.get("omitManagedFields"), bool | None):
        raise ValueError(f"{place}omitManagedFields must be a boolean")


def _wrong(rule: Written, path: str) -> Iterator[FieldError]:
    yield from _wrong_level(rule.get("level") or "", f"{path}.level")
    urls = rule.get("nonResourceURLs") or ()
    yield from _wrong_urls(urls, f"{path}.nonResourceURLs")
    for one in rule.get("resources") or ():
        yield from _wrong_resources(one, f"{path}.resources")
    yield from _wrong_stages(rule.get("omitStages") or (), f"{path}.omitStages")
    if urls and (rule.get("resources") or rule.get("namespaces")):
        why = "rules cannot apply to both regular resources and non-resource URLs"
        yield field.invalid(f"{path}.nonResourceURLs", list(urls), why)


def _wrong_level(level: str, path: str) -> Iterator[FieldError]:
    if not level:
        yield field.required(path, "")
    elif level not in LEVELS:
        yield field.not_supported(path, level, tuple(LEVELS))


def _wrong_urls(urls: Sequence[str], path: str) -> Iterator[FieldError]:
    for index, url in enumerate(urls):
        if url == "*":
            continue
        if not url.startswith("/"):
            yield field.invalid(f"{path}[{index}]", url, "non-resource URL rules must begin with a '/' character")
        if "*" in url[:-1]:
            why = "non-resource URL wildcards '*' must be the final character of the rule"
            yield field.invalid(f"{path}[{index}]", url, why)


def _wrong_resources(given: Written, path: str) -> Iterator[FieldError]:
    group = given.get("group") or ""
    if group not in ("", "*") and (wrong := names.is_dns_subdomain(group, False)):
        yield field.invalid(f"{path}.group", group, ",".join(wrong))
    resource_names = given.get("resourceNames") or ()
    if resource_names and not given.get("resources"):
        why = "using resourceNames requires at least one resource"
        yield field.invalid(f"{path}.resourceNames", list(resource_names), why)


def _wrong_stages(stages: Sequence[str], path: str) -> Iterator[FieldError]:
    for index, stage in enumerate(stages):
        if stage not in STAGES:
            yield field.invalid(f"{path}[{index}]", stage, f"allowed stages are {','.join(STAGES)}")


def _rule(written: Written, otherwise: Recording) -> Rule:
    own = written.get("omitManagedFields")
    return Rule(
        recording=Recording(
            LEVELS[written["level"]],
            _stages(written) | otherwise.omitted_stages,
            otherwise.omits_managed_fields if own is None else own,
        ),
        users=_set(written, "users"),
        groups=_set(written, "userGroups"),
        verbs=_set(written, "verbs"),
        namespaces=_set(written, "namespaces"),
        resources=[
            GroupResources(one.get("group") or "", tuple(one.get("resources") or ()), _set(one, "resourceNames"))
            for one in written.get("resources") or ()
        ],
        paths=tuple(written.get("nonResourceURLs") or ()),
    )


def _set(written: Written, name: str) -> frozenset[str]:
    return frozenset(written.get(name) or ())


def _stages(written: Written) -> frozenset[Any]:
    return frozenset(STAGES[stage] for stage in written.get("omitStages") or ())
