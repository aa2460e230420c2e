"""Config files: the files of the group apiserver.config.k8s.io, decoded strictly."""

from pathlib import Path
from typing import Annotated, Any, TypeVar

import pydantic
from pydantic.alias_generators import to_camel

from aio_apiserver.apiserver.config import validation_errors
from aio_apiserver.registry.base.golang import durations
from aio_apiserver.storage.encryption import strict_yaml

_GROUP = "apiserver.config.k8s.io"

M = TypeVar("M", bound="Model")


def _seconds(value: Any) -> Any:
    return durations.parse(value) if isinstance(value, str) else value


Duration = Annotated[float, pydantic.BeforeValidator(_seconds), pydantic.Field(ge=0)]


class Model(pydantic.BaseModel):
    """A part of a file. The file has its fields in camel case."""

    model_config = pydantic.ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True, alias_generator=to_camel)

    @pydantic.model_validator(mode="before")
    @classmethod
    def _null_is_absent(cls, data: Any) -> Any:
        return {name: value for name, value in data.items() if value is not None} if isinstance(data, dict) else data


def load(data: bytes, path: Path, model: type[M], *, kind: str, versions: tuple[str, ...]) -> M:
    """The content of a file. Raises ValueError with the file's name and the errors."""
    try:
        document = strict_yaml.load(data)
    except ValueError as exc:
        raise ValueError(f"{path}: {exc}") from exc
    accepted = [f"{_GROUP}/{version}" for version in versions]
    if not isinstance(document, dict) or document.get("kind") != kind or document.get("apiVersion") not in accepted:
        raise ValueError(f"{path}: must be of kind {kind} in {' or '.join(accepted)}")
    content = {name: value for name, value in document.items() if name not in ("kind", "apiVersion")}
    try:
        return model.model_validate(content)
    except pydantic.ValidationError as exc:
        raise ValueError(f"{path}: {validation_errors.describe(exc)}") from exc
