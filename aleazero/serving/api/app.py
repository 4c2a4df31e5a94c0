"""The HTTP API ``/api/v1`` with its OpenAPI description: games, players, runs, and the application itself.

The event loop only reads and writes. Rules, searches and run directories are handled by worker processes
(``jobs``, ``tasks``, ``listings``). The routes of sessions are in ``sessions``, those of searches in ``searches``.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Annotated, Any, Final

from fastapi import APIRouter, FastAPI, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from aleazero.errors import AleaZeroError, shortened
from aleazero.serving.api import models
from aleazero.serving.api.guard import Guard, error_body
from aleazero.serving.api.jobs import JobError
from aleazero.serving.api.searches import search_routes
from aleazero.serving.api.sessions import session_routes
from aleazero.serving.api.settings import ApiSettings
from aleazero.serving.api.state import Api, UnknownNameError, status_of
from aleazero.serving.requests import OWN_NETS, name_of
from aleazero.settings import expected_value, field_path
from aleazero.untrusted import printable
from aleazero.version import VERSION

ROOT: Final = "/api/v1"
LISTINGS: Final = "aleazero.serving.api.listings"
"""Module of the tasks that list games, players and runs."""
ABOUT: Final = (
    "Play, analyse and review games with dice and other chance events. Values are expected returns by player. "
    "Every error is an object with one line."
)
PROBLEMS: Final = {
    400: "The request is invalid, e.g. an illegal move or a number above a limit.",
    401: "The token is missing or wrong.",
    403: "The Host or Origin header is not allowed.",
    404: "There is no such session, game, run or search.",
    408: "The client sent its request too slowly.",
    409: "Another request changes the session, or the session has changed.",
    413: "The body is too large.",
    415: "The body is not application/json.",
    422: "The body does not match the description, the rules of a user's game raised an exception, or the work took "
    "longer than the limit.",
    429: "There are too many sessions or waiting searches.",
    503: "The server is busy or is shutting down.",
}
"""Errors of every route."""
log = logging.getLogger("aleazero")


def make_app(settings: ApiSettings) -> Guard:
    """Return the application of a server with its guard."""
    api = Api(settings)
    return Guard(make_api(api), settings, api.end_work)


def make_api(api: Api) -> FastAPI:
    """Return the application without guard."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        api.open()
        sweeper = asyncio.create_task(api.sweep())
        try:
            yield
        finally:
            sweeper.cancel()
            with suppress(asyncio.CancelledError):
                await sweeper
            api.close()

    app = FastAPI(
        title="AleaZero", version=VERSION, description=ABOUT, lifespan=lifespan, docs_url=None, redoc_url=None,
        openapi_url=f"{ROOT}/openapi.json", redirect_slashes=False,
        responses={status: {"model": models.Problem, "description": text} for status, text in PROBLEMS.items()},
    )  # fmt: skip
    for routes in (_server_routes(api), _game_routes(api), _run_routes(api), session_routes(api), search_routes(api)):
        app.include_router(routes, prefix=ROOT)
    _handle_errors(app, api)
    app.state.api = api
    return app


# -- errors ------------------------------------------------------------------------------------------------------------


def _handle_errors(app: FastAPI, api: Api) -> None:
    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: Any) -> Response:
        if error.errors()[0]["type"] == "json_invalid":
            return problem(400, "the body is not valid JSON, expected an object")
        return problem(422, validation_line(error.errors()))

    @app.exception_handler(HTTPException)
    async def unknown(request: Request, error: Any) -> Response:
        text = f"{request.method} {request.url.path[:100]}: {error.detail}"
        return problem(error.status_code, text, error.headers)

    @app.exception_handler(AleaZeroError)
    async def known(request: Request, error: Any) -> Response:
        status = status_of(error)
        if status == 500:
            log.error("%s %s: %s", request.method, request.url.path[:100], error)
        return problem(status, str(error), {"retry-after": "1"} if status in (429, 503) else None)

    @app.exception_handler(Exception)
    async def bug(request: Request, error: Any) -> Response:
        return problem(500, "the server has a bug, which its log shows")


def problem(status: int, text: str, headers: Mapping[str, str] | None = None) -> Response:
    """Return the answer of an error."""
    line = shortened(printable(" ".join(text.split())))
    return Response(error_body(line), status, dict(headers or {}), "application/json")


def validation_line(errors: Sequence[Mapping[str, Any]]) -> str:
    """Return the line of the first pydantic error: the field, what was given and what is expected."""
    error = errors[0]
    field = ".".join(part for part in field_path(error["loc"]) if part not in ("body", "query", "path")) or "the body"
    if error["type"] == "missing":
        return f"{field} is missing"
    if error["type"] == "extra_forbidden":
        return f"no field {field}, expected only those of the description"
    return f"{field} is {shortened(repr(error['input']), 80, 20)}, expected {expected_value(errors)}"


# -- routes ------------------------------------------------------------------------------------------------------------


def _server_routes(api: Api) -> APIRouter:
    routes = APIRouter(tags=["server"])

    @routes.get("/server", response_model=models.ServerInfo)
    async def server() -> Any:
        """Show the version, the limits and the load of the server."""
        status = api.jobs.status()
        return {
            "version": VERSION, "api": 1, "limits": api.limits.model_dump(), "sessions": len(api.store),
            "nets": [*OWN_NETS, *api.sources.nets],
            **{name: status[name] for name in ("workers", "running", "waiting")},
        }  # fmt: skip

    return routes


def _game_routes(api: Api) -> APIRouter:
    routes = APIRouter(tags=["games"])

    @routes.get("/games", response_model=list[models.GameDescription])
    async def games(request: Request) -> Any:
        """List the games with their default parameters."""
        await _know_bundled(api, request)
        for name in api.sources.games:
            if name not in api.games:
                try:
                    found = await api.rules(request.receive, f"{LISTINGS}:games", name, names=[name])
                except JobError as error:
                    yet = {"name": name, "error": printable(str(error))}
                    api.games.pop(name, None)
                    api.broken[name] = yet
                else:
                    api.games[name] = found[0]
                    api.broken.pop(name, None)
        return sorted([*api.games.values(), *api.broken.values()], key=lambda one: str(one["name"]))

    @routes.get("/games/{game}", response_model=models.GameDescription)
    async def game(request: Request, game: str) -> Any:
        """Describe a game; the name may have parameters, e.g. `pig(target=50)`."""
        await _require_game(api, request, game)
        found = await api.rules(request.receive, f"{LISTINGS}:games", game, names=[game])
        return found[0]

    @routes.get("/games/{game}/players", response_model=list[models.PlayerKind])
    async def players(request: Request, game: str) -> Any:
        """List the players that seats of a game can have."""
        await _require_game(api, request, game)
        return await api.rules(request.receive, f"{LISTINGS}:players", game, game=game)

    return routes


async def _know_bundled(api: Api, request: Request) -> None:
    if not api.games.keys() - api.sources.games.keys():
        for one in await api.rules(request.receive, f"{LISTINGS}:games", names=None):
            api.games.setdefault(one["name"], one)


async def _require_game(api: Api, request: Request, game: str) -> None:
    await _know_bundled(api, request)
    name = name_of(game)
    if name not in api.games and name not in api.sources.games:
        known = ", ".join(sorted({*api.games, *api.sources.games}))
        raise UnknownNameError(f"no game {shortened(game, 80, 20)!r}, expected one of {known}")


def _run_routes(api: Api) -> APIRouter:
    routes = APIRouter(prefix="/runs", tags=["runs"])

    @routes.get("", response_model=list[models.RunSummary])
    async def runs(request: Request) -> Any:
        """List the runs in the folder that the command line names."""
        if api.settings.runs is None:
            return []
        return await api.rules(request.receive, f"{LISTINGS}:runs", slow=True, folder=api.settings.runs)

    @routes.get("/{run}", response_model=models.RunSummary)
    async def run(request: Request, run: str) -> Any:
        """Show the status of a run and the strength of its champion."""
        return await _of_run(request, "run", run)

    @routes.get("/{run}/scalars", response_model=models.Scalars)
    async def scalars(
        request: Request,
        run: str,
        prefix: Annotated[str, Query(max_length=200, description="Only names that start with this text.")] = "",
        offset: Annotated[int, Query(ge=0, le=2**31, description="Numbers to skip.")] = 0,
        count: Annotated[int, Query(ge=1, le=10_000, description="Largest number of numbers.")] = 1_000,
    ) -> Any:
        """Return the training curves of a run."""
        return await _of_run(request, "scalars", run, prefix=prefix, offset=offset, count=count)

    async def _of_run(request: Request, task: str, name: str, **more: Any) -> Any:
        found = None
        if api.settings.runs is not None:
            found = await api.rules(request.receive, f"{LISTINGS}:{task}", folder=api.settings.runs, name=name, **more)
        if found is None:
            raise UnknownNameError(f"no run {shortened(name, 80, 20)!r}, expected one of GET {ROOT}/runs")
        return found

    return routes
