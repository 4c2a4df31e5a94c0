"""Runs over HTTP, against a real server."""

from __future__ import annotations

import pytest


def test_runs_are_listed_with_damaged_ones(live):
    first, second = live.get("/runs").json()
    assert (first["run"], first["game"], first["error"]) == ("first", "pig", None)
    assert second["run"] == "second"
    assert second["error"]
    assert str(live.settings.runs) not in live.get("/runs").text


def test_the_summary_of_a_run(live):
    run = live.get("/runs/first").json()
    assert run["recipe"] == "afterstate"
    assert run["iterations"]["done"] >= 1
    assert run["lines"]["run"].startswith("first: pig (target=30), ")
    assert live.get("/runs/second").json()["error"]


def test_the_scalars_of_a_run(live):
    every = live.get("/runs/first/scalars", params={"count": 10_000}).json()
    assert every["total"] == len(every["scalars"]) > 10
    part = live.get("/runs/first/scalars", params={"offset": 2, "count": 3}).json()
    assert part["scalars"] == every["scalars"][2:5]
    prefix = every["scalars"][0]["name"].partition("/")[0]
    some = live.get("/runs/first/scalars", params={"prefix": prefix}).json()
    assert 0 < some["total"] == sum(one["name"].startswith(prefix) for one in every["scalars"])
    damaged = live.get("/runs/second/scalars")
    assert damaged.status_code == 422
    assert str(live.settings.runs) not in damaged.text
    assert live.get("/runs/first/scalars", params={"count": 10_001}).status_code == 422


@pytest.mark.parametrize("name", ["third", "..", "..%2Ffirst", "first%2F..%2Ffirst", "%2Fetc", "first%00"])
def test_an_unknown_run_is_not_found(live, name):
    for path in (f"/runs/{name}", f"/runs/{name}/scalars"):
        answer = live.get(path)
        assert answer.status_code == 404
        assert answer.json()["error"]
