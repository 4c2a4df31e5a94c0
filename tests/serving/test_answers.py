"""Answers of worker processes, computed in this process."""

from __future__ import annotations

import json

import pytest

from aleazero.serving import answers, desk
from aleazero.serving.judge import make_judge
from aleazero.serving.requests import Limits, Sources, parse_request
from aleazero.serving.work import Work
from tests.sample_games import COINS

PIG = "pig(target=20)"


class Unconnected(Work):
    """The connection of a task whose messages nobody reads."""

    def __init__(self):
        super().__init__(None, 0)

    def report(self, content):
        pass

    def stopped(self):
        return False

    def preparing(self):
        pass

    def ready(self):
        pass


def answer(sources=None, **fields):
    sources, limits = sources or Sources(), Limits()
    request = parse_request(fields, limits, sources)
    return json.loads(answers.answer((request, sources, limits), Unconnected()))


def test_an_exception_is_blamed_on_the_rules_of_a_users_game_only(monkeypatch):
    def fail(request, work):
        raise KeyError("a bug")

    monkeypatch.setattr(answers, "ANSWERS", {"legal": fail})
    sources = Sources.read([COINS])
    with pytest.raises(KeyError, match="a bug"):
        answer(sources, request="legal", game=PIG)
    with pytest.raises(answers.RulesError, match=r"coins\(most=3\): the rules raised KeyError: 'a bug'"):
        answer(sources, request="legal", game="coins(most=3)")


def test_the_judge_of_a_review_with_its_own_search_is_not_kept(monkeypatch, interpreted):
    """Its trees can have as many nodes as the limits allow, so several of them could fill the memory."""
    monkeypatch.setattr(desk, "_engines", type(desk._engines)())
    first = answer(request="review", game=PIG, moves="roll 5 hold", sims=20)
    assert first["judge"] == "search:sims=20"
    assert not desk._engines
    assert answer(request="review", game=PIG, moves="roll 5 hold")["exact"]
    assert len(desk._engines) == 1
    assert answer(request="review", game=PIG, moves="roll 5 hold", sims=20)["entries"] == first["entries"]


def test_a_judge_has_fewer_trees_at_once_if_nodes_are_limited(interpreted):
    from aleazero import load_game

    game = load_game("pig", target=20)
    few, many = (make_judge(game, "search:sims=100", max_nodes=nodes)._forest for nodes in (250, None))
    assert (few.trees, few.config.max_nodes) == (2, 250)
    assert many.trees > 2
    states = [game.state_from_text(f"{score}-8 turn 2") for score in range(5)]
    assert [one.visits.tolist() for one in few.run(states)] == [one.visits.tolist() for one in many.run(states)]
