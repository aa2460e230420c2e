"""A kind has one home: the folder of its API group. Otherwise plugins, controllers and a ledger of files name it."""

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from aio_apiserver.registry.controlplane.providers import PROVIDERS
from aio_apiserver.registry.generic.store.provider import KindsProvider
from aio_apiserver.registry.groups.core.componentstatuses import COMPONENTSTATUSES

PROJECT = Path(__file__).parents[2]
FOLDERS = ("apiserver", "registry", "storage")
FREE = ("registry/groups/", "registry/plugins/")
"""Where kinds are declared, and where rules about several kinds stand."""

LEDGER: Mapping[str, str] = {
    "apiserver/access/authorization_config.py": "Node is a mode of authorization",
    "apiserver/config/flags/authorization_flags.py": "Node is a mode of authorization",
    "apiserver/config/flags/local_flags.py": "help texts name what controllers look after",
    "apiserver/endpoints/flow_dumps.py": "Namespace is a column of a report on requests",
    "apiserver/commands/cloned_objects.py": "the type of metadata is taken from any kind",
    "apiserver/commands/clone.py": "the manual says which kinds a copy leaves out",
    "apiserver/commands/checks/stored_accounts.py": "a command reads service accounts out of a store without a server",
    "apiserver/commands/checks/stored_schemas.py": "a command reads definitions out of a store without a server",
    "apiserver/console/reports/": "a report leaves Secrets and leases out",
    "apiserver/console/timeline/": "the timeline hides the values of Secrets, and shows leases as leaders",
    "apiserver/handlers/container_logs.py": "errors name the subresource whose text the handler relays",
    "apiserver/handlers/resources.py": "the URL of a namespace is one in that namespace",
    "apiserver/wire/request_info.py": "the grammar of URLs has namespaces in it",
    "registry/base/golang/pem.py": "a class of the cryptography package",
    "registry/base/validation/object_meta.py": "the metadata of every object refuses events as owners",
    "registry/base/validation/resource_names.py": "quotas count these resources by names of their own",
    "registry/controlplane/admission_plugins.py": "names of admission plugins",
    "registry/controlplane/bootstrap/": "makes objects of these kinds when the server starts",
    "registry/generic/access/impersonation.py": "the authorizer is asked about users as nodes and service accounts",
    "registry/generic/audit/policy_files.py": "an audit policy has a field of this name",
    "registry/generic/audit/trail.py": "a record of the audit is an Event of another group",
    "registry/machinery/openapi/builtin_routes.py": "the grammar of URLs has namespaces in it",
    "registry/machinery/openapi/connections.py": "connections and logs are no objects: no kind declares them",
    "registry/machinery/openapi/custom.py": "the grammar of URLs has namespaces in it",
    "storage/factory/factory.py": "leases of etcd",
    "storage/interface.py": "the events of a watch",
    "storage/kv/etcd/engine.py": "endpoints of etcd",
    "storage/kv/etcd/watch_states.py": "the events of a watch",
    "storage/kv/memory.py": "leases of etcd",
}
"""Files and folders that name a kind all the same, and why."""

KINDS = [
    kind
    for provider in PROVIDERS
    if isinstance(provider, KindsProvider)
    for kind in (*provider.kinds, COMPONENTSTATUSES)
]
NAMES = {kind.kind for kind in KINDS} | {kind.plural for kind in KINDS}


def named(source: str) -> Iterator[str]:
    """The texts of a module that name a kind or one of its subresources; documentation is free to."""
    tree = ast.parse(source)
    documentation = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    constants = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in documentation)
    texts = (node.value for node in constants if isinstance(node.value, str))
    return (text for text in texts if text.partition("/")[0] in NAMES)


def entry_of(path: str) -> str | None:
    """The row of the ledger that is about a file."""
    return next((row for row in LEDGER if path.startswith(row)), None)


def naming() -> Mapping[str, set[str]]:
    """By file: the kinds that it names, outside of their homes."""
    found = {}
    for folder in FOLDERS:
        for file in sorted((PROJECT / folder).rglob("*.py")):
            path = file.relative_to(PROJECT).as_posix()
            if not path.startswith(FREE) and (names := set(named(file.read_text()))):
                found[path] = names
    return found


@pytest.fixture(scope="module")
def found() -> Mapping[str, set[str]]:
    return naming()


def test_no_code_names_a_kind_outside_of_its_home(found: Mapping[str, set[str]]) -> None:
    assert {path: names for path, names in found.items() if entry_of(path) is None} == {}


def test_every_row_of_the_ledger_is_needed(found: Mapping[str, set[str]]) -> None:
    assert {entry_of(path) for path in found} - {None} == set(LEDGER)


def test_a_version_of_a_kind_is_a_version_of_its_group() -> None:
    for provider in PROVIDERS:
        assert isinstance(provider, KindsProvider)
        for kind in provider.kinds:
            assert {*kind.versions, *kind.beta_versions} <= set(provider.group.versions), kind.kind
