"""Routes of the HTTP API for sessions: games that are played or studied."""

from __future__ import annotations

import secrets
from dataclasses import asdict
from typing import Any

from fastapi import APIRouter, Request, Response

from aleazero.serving.api import models
from aleazero.serving.api.state import Api


def session_routes(api: Api) -> APIRouter:
    """Return the routes below ``/sessions``."""
    routes = APIRouter(prefix="/sessions", tags=["sessions"])
    _whole_sessions(routes, api)
    _changes(routes, api)
    return routes


def _whole_sessions(routes: APIRouter, api: Api) -> None:
    @routes.get("", response_model=list[models.SessionEntry])
    async def sessions() -> Any:
        """List the sessions, those used last first."""
        return [asdict(entry) for entry in api.store.entries()]

    @routes.post("", response_model=models.SessionView, status_code=201)
    async def new_session(request: Request, body: models.NewSession) -> Any:
        """Start a session from a game, a position as text, or moves."""
        seed = secrets.randbits(63) if body.seed is None else body.seed
        api.check_position(body.position, body.moves)
        api.sources.game_text(body.game)
        return await api.open_session(request.receive, body.game, **{**body.model_dump(), "seed": seed})

    @routes.post("/file", response_model=models.SessionView, status_code=201)
    async def import_session(request: Request, body: models.SessionFile) -> Any:
        """Start a session from exported data. Its steps are checked against the rules."""
        game = body.file.get("game")
        return await api.open_session(request.receive, game if isinstance(game, str) else "", file=body.file)

    @routes.get("/{session}", response_model=models.SessionView)
    async def session(request: Request, session: str) -> Any:
        """Show a session."""
        return await api.view(request.receive, session)

    @routes.delete("/{session}", status_code=204, response_class=Response)
    async def delete_session(session: str) -> None:
        """Delete a session."""
        api.store.remove(session)

    @routes.get("/{session}/file", response_model=dict[str, Any])
    async def export_session(session: str) -> Any:
        """Export a session as JSON, which `POST /sessions/file` and `aleazero play` read."""
        return api.store.get(session).data

    @routes.get("/{session}/history", response_model=list[models.Step])
    async def history(request: Request, session: str) -> Any:
        """List all steps of a session."""
        data = api.store.get(session).data
        return await api.rules(request.receive, "history", data["game"], session=data)


def _changes(routes: APIRouter, api: Api) -> None:
    @routes.post("/{session}/moves", response_model=models.SessionView)
    async def moves(request: Request, session: str, body: models.PlayMoves) -> Any:
        """Play actions, or enter outcomes at chance nodes."""
        api.check_position(None, body.moves)
        more: Any = {"change": "moves", "moves": body.moves, "draw": body.draw}
        return await api.change(request.receive, session, "change_session", body.revision, **more)

    @routes.post("/{session}/draw", response_model=models.SessionView)
    async def draw(request: Request, session: str, body: models.Change) -> Any:
        """Draw outcomes until a player decides, e.g. roll the dice."""
        return await api.change(request.receive, session, "change_session", body.revision, change="draw")

    @routes.post("/{session}/undo", response_model=models.SessionView)
    async def undo(request: Request, session: str, body: models.Walk) -> Any:
        """Take steps back."""
        more: Any = {"change": "undo", "unit": body.unit, "count": body.count}
        return await api.change(request.receive, session, "change_session", body.revision, **more)

    @routes.post("/{session}/redo", response_model=models.SessionView)
    async def redo(request: Request, session: str, body: models.Walk) -> Any:
        """Play steps again that were taken back."""
        more: Any = {"change": "redo", "unit": body.unit, "count": body.count}
        return await api.change(request.receive, session, "change_session", body.revision, **more)

    @routes.post("/{session}/play", response_model=models.SessionView)
    async def play(request: Request, session: str, body: models.PlaySeat) -> Any:
        """Let the player of the seat to move play, with the dice that follow."""
        return await api.change(
            request.receive, session, "play_seat", body.revision, search=True, job=body.id, all=body.all
        )
