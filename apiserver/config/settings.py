"""settings: All flags of the server as one frozen table, put together from the groups of --help.

The name of a flag is that of its field, with dashes. --help and docs/flags.md are made from this table. The grammar of
the command line is in flag_grammar.py. Each group has its own file, as etcd_flags.py. Must hold: settings are checked
as a whole when they are created. No file is opened.
"""

from pathlib import Path
from typing import Self

from msgspec.structs import replace
from pydantic import ConfigDict, model_validator

from aio_apiserver.apiserver.config import emulated_versions, settings_checks
from aio_apiserver.apiserver.config.flags.admission_flags import AdmissionFlags
from aio_apiserver.apiserver.config.flags.auditing_flags import AuditingFlags
from aio_apiserver.apiserver.config.flags.authentication_flags import AuthenticationFlags
from aio_apiserver.apiserver.config.flags.authorization_flags import AuthorizationFlags
from aio_apiserver.apiserver.config.flags.etcd_flags import EtcdFlags
from aio_apiserver.apiserver.config.flags.generic_flags import GenericFlags
from aio_apiserver.apiserver.config.flags.local_flags import VERSION_VARIABLE, LocalFlags
from aio_apiserver.apiserver.config.flags.misc_flags import MiscFlags
from aio_apiserver.apiserver.config.flags.serving_flags import ServingFlags
from aio_apiserver.registry.base import minors
from aio_apiserver.registry.base.timeline import Version

ENVIRONMENT = {
    "XDG_DATA_HOME": "where --data-dir is when it is not given; ~/.local/share if unset.",
    VERSION_VARIABLE: f"the --kubernetes-version when it is not given; {minors.Minor().text} if unset.",
}
"""The environment variables that the server reads."""


class Settings(
    MiscFlags,
    AuditingFlags,
    AdmissionFlags,
    AuthorizationFlags,
    AuthenticationFlags,
    ServingFlags,
    EtcdFlags,
    LocalFlags,
    GenericFlags,
):
    """The settings of the server, one for each flag. pydantic orders the fields from the last group to the first."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @model_validator(mode="after")
    def _check(self) -> Self:
        settings_checks.check(self)
        return self

    @property
    def emulated(self) -> Version:
        """The version of Kubernetes that the server reports."""
        return emulated_versions.parse(self.emulated_version, self._own.version)

    @property
    def minor(self) -> minors.Minor:
        """The minor of Kubernetes that the server is, with its feature gates as configured."""
        return replace(self._own, feature_gates=tuple(self.feature_gates), emulated=self.emulated)

    @property
    def _own(self) -> minors.Minor:
        return minors.parse(self.kubernetes_version)

    @property
    def has_console(self) -> bool:
        """Whether the web console is served. A simulated cluster has it, too, but not the one of a test."""
        return self.ui or (self.simulate and not self.testing)

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
