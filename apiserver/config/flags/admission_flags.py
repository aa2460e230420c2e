"""admission_flags: Flags of admission: which plugins run, and their configuration."""

from pathlib import Path

from aio_apiserver.apiserver.config.flags.flag_fields import ADMISSION, FlagGroup, flag
from aio_apiserver.apiserver.config.flags.setting_types import (
    Strings,
)
from aio_apiserver.registry.controlplane import admission_plugins


class AdmissionFlags(FlagGroup):
    """The group Admission of --help."""

    enable_admission_plugins: Strings = flag(
        ADMISSION,
        (),
        "Admission plugins that should be enabled in addition to default enabled ones "
        f"({', '.join(row.name for row in admission_plugins.PLUGINS if row.is_default)}). "
        f"Comma-delimited list of admission plugins: {', '.join(admission_plugins.NAMES)}. "
        "The order of plugins in this flag does not matter.",
    )
    disable_admission_plugins: Strings = flag(
        ADMISSION,
        (),
        "Admission plugins that should be disabled although they are in the default enabled plugins list. "
        "The order of plugins in this flag does not matter.",
    )
    admission_control_config_file: Path | None = flag(ADMISSION, None, "File with admission control configuration.")
    default_not_ready_toleration_seconds: int = flag(
        ADMISSION,
        300,
        "Indicates the tolerationSeconds of the toleration for notReady:NoExecute that is added by default to every "
        "pod that does not already have such a toleration.",
    )
    default_unreachable_toleration_seconds: int = flag(
        ADMISSION,
        300,
        "Indicates the tolerationSeconds of the toleration for unreachable:NoExecute that is added by default to "
        "every pod that does not already have such a toleration.",
    )
