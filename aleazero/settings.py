"""Base class of all config classes: frozen and strict, with errors that name the setting and the expected value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import PydanticCustomError

from aleazero.errors import ConfigError, nearest

PROBLEM, TOGETHER = "problem", "together"
ALTERNATIVES = ("bool", "int", "float", "str", "constrained-float")
"""Last parts of a location that name an alternative of a type, and not a setting."""


class Settings(BaseModel):
    """A frozen group of settings. Invalid values raise a ConfigError with the path of the setting."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, strict=True)

    def __init__(self, **values: Any) -> None:
        try:
            super().__init__(**values)
        except ValidationError as error:
            raise config_error(type(self), error) from None

    # With this attribute, a nested group is validated by the outer one, whose errors have the full path.
    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]


def problem(text: str) -> PydanticCustomError:
    """Return the error that a field validator raises: ``is 'x', expected y``."""
    return PydanticCustomError(PROBLEM, "{text}", {"text": text})


def clash(text: str, field: str | None = None) -> PydanticCustomError:
    """Return the error that a model validator raises, about one field or about several."""
    return PydanticCustomError(TOGETHER, "{text}", {"text": text, "field": field or ""})


def config_error(kind: type[BaseModel], error: ValidationError) -> ConfigError:
    """Convert the first error of a group of settings into a ConfigError with its field."""
    first = error.errors()[0]
    path = field_path(first["loc"])
    field, inside, text = ".".join(path), False, first["msg"]
    if first["type"] == TOGETHER:
        own = first["ctx"]["field"]
        field, inside = ".".join((*path, own)) if own else field, not own
    elif first["type"] == "extra_forbidden":
        path, name = field_path(first["loc"][:-1]), str(first["loc"][-1])
        field, inside = ".".join(path), True
        text = f"no setting {name!r}, {nearest(name, _group(kind, path).model_fields)}"
    elif first["type"] == "missing":
        text = "is missing"
    elif first["type"] != PROBLEM:
        text = f"is {first['input']!r}, expected {expected_value(error.errors())}"
    return ConfigError(text, field=field or None, where=kind.__name__, inside=inside)


def expected_value(errors: Sequence[Any]) -> str:
    """Return what is expected in place of the value of the first error: all alternatives of its type."""
    path = field_path(errors[0]["loc"])
    same = [error["msg"] for error in errors if field_path(error["loc"]) == path]
    return " or ".join(dict.fromkeys(text.removeprefix("Input should be ") for text in same))


def field_path(location: tuple[int | str, ...]) -> tuple[str, ...]:
    """Return the path of a setting, without the parts that name an alternative of its type."""
    if len(location) > 1 and location[-1] in ALTERNATIVES:
        location = location[:-1]
    return tuple(str(part) for part in location if "[" not in str(part))


def _group(kind: type[BaseModel], path: tuple[str, ...]) -> type[BaseModel]:
    """Return the class of the group at a path."""
    for name in path:
        field = kind.model_fields.get(name)
        inner = [] if field is None else [field.annotation, *getattr(field.annotation, "__args__", ())]
        kind = next((one for one in inner if isinstance(one, type) and issubclass(one, BaseModel)), kind)
    return kind
