from __future__ import annotations

import pytest


@pytest.mark.long  # starts a server and its processes
def test_requests_are_timed_while_sessions_search(run_json):
    data = run_json("api", "--sessions", "3", "--seconds", "0.5", "--workers", "2")
    assert (data["workers"], data["searches"]["results"]) == (2, 3)
    for rows in (data["idle"], data["busy"]):
        assert [row["request"] for row in rows] == [
            "GET /server", "GET session", "POST moves", "POST undo", "POST /legal",
        ]  # fmt: skip
        assert all(0 < row["median"] <= row["longest"] for row in rows)
    assert data["targets"][0]["what"] == "median of the slowest request"
