"""flag_fields: How a flag is declared as a field of the settings: its group, its default, its help."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field
from pydantic.config import JsonDict

GENERIC = "Generic"
ETCD = "Etcd"
SERVING = "Secure serving"
AUTHENTICATION = "Authentication"
AUTHORIZATION = "Authorization"
ADMISSION = "Admission"
AUDITING = "Auditing"
LOGS = "Logs"
TRACES = "Traces"
FEATURES = "Features"
MISC = "Misc"
LOCAL = "Local"


class FlagGroup(BaseModel):
    """Some flags of the settings. pydantic builds no validator for a group alone, which would cost 0.1 s of a start."""

    model_config = ConfigDict(defer_build=True)


def flag(group: str, default: Any, description: str, *, shorthand: str = "", shown: str = "") -> Any:
    """A field with its default and its help. `shown` describes a default that depends on other settings."""
    about: JsonDict = {"group": group, "shorthand": shorthand, "shown": shown}
    if callable(default):
        return Field(default_factory=default, description=description, json_schema_extra=about)
    return Field(default, description=description, json_schema_extra=about)
