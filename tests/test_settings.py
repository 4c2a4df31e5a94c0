"""The base class of settings: errors have the path of the setting."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest
from pydantic import Field, field_validator, model_validator

from aleazero.errors import ConfigError
from aleazero.settings import Settings, clash, problem


class Inner(Settings):
    low: int = Field(1, ge=0)
    high: int = 2
    name: str = "a"

    @field_validator("name")
    @classmethod
    def _known(cls, value: str) -> str:
        if value != "a":
            raise problem(f"is {value!r}, did you mean a?")
        return value

    @model_validator(mode="after")
    def _goes_together(self) -> Inner:
        if self.low > self.high:
            raise clash(f"is {self.low}, expected at most high, {self.high}", "low")
        if self.low == self.high:
            raise clash(f"low={self.low} does not go with high={self.high}")
        return self


class Outer(Settings):
    inner: Inner | None = None
    first: Literal["parent"] | Annotated[float, Field(ge=0, le=1)] = "parent"
    sizes: tuple[int, ...] = Field((1,), strict=False)
    needed: int


class Complete(Settings):
    outer: Outer = Field(default_factory=lambda: Outer(needed=1))


@pytest.mark.parametrize(
    ("values", "field", "message"),
    [
        ({"inner": {"low": -1}}, "inner.low", "Outer: inner.low is -1, expected greater than or equal to 0"),
        ({"inner": {"low": 1.5}}, "inner.low", "Outer: inner.low is 1.5, expected a valid integer"),
        ({"inner": {"low": 3}}, "inner.low", "Outer: inner.low is 3, expected at most high, 2"),
        ({"inner": {"low": 2}}, "inner", "Outer: inner: low=2 does not go with high=2"),
        ({"inner": {"name": "{b}"}}, "inner.name", "Outer: inner.name is '{b}', did you mean a?"),
        ({"inner": {"lo": 2}}, "inner", "Outer: inner: no setting 'lo', did you mean low?"),
        ({"inner": 3}, "inner", "Outer: inner is 3, expected a valid dictionary or instance of Inner"),
        ({"first": 2.0}, "first", "Outer: first is 2.0, expected 'parent' or less than or equal to 1"),
        ({"sizes": [1, "x"]}, "sizes.1", "Outer: sizes.1 is 'x', expected a valid integer"),
        ({"inner": {"lo[w]": 2}}, "inner", "Outer: inner: no setting 'lo[w]', did you mean low?"),
        ({"need": 2}, None, "Outer: no setting 'need', did you mean needed?"),
    ],
)
def test_an_error_has_the_path_of_its_setting(values: dict[str, Any], field: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Outer(needed=1, **values)
    assert (str(caught.value), caught.value.field) == (message, field)
    with pytest.raises(ConfigError) as caught:
        Complete(outer={"needed": 1, **values})
    expected = "outer" if field is None else f"outer.{field}"
    assert caught.value.field == expected
    assert str(caught.value).startswith(f"Complete: {expected}")


def test_a_missing_setting():
    with pytest.raises(ConfigError, match=r"^Complete: outer\.needed is missing$"):
        Complete(outer={})


def test_a_group_is_frozen_and_equal_by_value():
    assert Complete(outer={"needed": 2, "inner": {"low": 0}}) == Complete(outer=Outer(needed=2, inner=Inner(low=0)))
    with pytest.raises(Exception, match="frozen"):
        Inner().low = 5
