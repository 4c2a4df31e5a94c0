"""Write the tables of the page about the HTTP API from its OpenAPI description: ``docs/scripts/api_tables.py``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from page_tables import rewrite, table

from aleazero.serving.api.app import PROBLEMS, ROOT, make_api
from aleazero.serving.api.settings import ApiLimits, ApiSettings
from aleazero.serving.api.state import Api

PAGE = Path(__file__).resolve().parents[1] / "guides" / "api.md"


def description() -> dict[str, Any]:
    """Return the OpenAPI description."""
    return make_api(Api(ApiSettings())).openapi()


def routes_table(data: dict[str, Any]) -> str:
    """List all routes with their descriptions."""
    rows = [
        [f"`{method.upper()} {path.removeprefix(ROOT)}`", route["description"].replace("\n", " ")]
        for path, methods in data["paths"].items()
        for method, route in methods.items()
    ]
    return table(["route", "answer"], rows, 2)


def limits_table(data: dict[str, Any]) -> str:
    """List all limits with their defaults."""
    rows = [
        [f"`{name}`", f"{field.default:,}".removesuffix(".0"), str(field.description)]
        for name, field in ApiLimits.model_fields.items()
    ]
    return table(["limit", "default", "meaning"], rows, 3)


def errors_table(data: dict[str, Any]) -> str:
    """List the statuses of errors."""
    return table(["status", "meaning"], [[str(status), text] for status, text in PROBLEMS.items()], 2)


TABLES = {"routes": routes_table, "limits": limits_table, "errors": errors_table}

if __name__ == "__main__":
    rewrite(PAGE, TABLES, description())
