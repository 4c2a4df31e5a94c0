from __future__ import annotations

import pytest

import aleazero

TURN = ("--plan", "turn", "--evaluator", "uniform")


def test_a_plan_shows_values_and_losses(run):
    text = run("analyse", "pig", "--position", "80-60 turn 12", *TURN).stdout
    header = next(line for line in text.splitlines() if " loss" in line)
    assert header.split() == ["action", "value", "loss"]
    assert "visits" not in text
    assert "simulations" not in text
    assert text.count("*") == 1
    assert "evaluations, depth" in text
    assert max(map(len, text.splitlines())) <= 80


def test_a_planned_chance_root_shows_outcomes(run):
    text = run("analyse", "pig", "--moves", "roll 5 roll", "--plan", "1").stdout
    header = next(line for line in text.splitlines() if "probability" in line)
    assert " ".join(header.split()) == "outcome probability player 0 player 1 luck of 0"
    assert text.count("0.1667") == 6


@pytest.mark.parametrize(("spec", "settings"), [("turn", {}), ("2", {"plies": 2}), ("game", {"horizon": "game"})])
def test_json_is_the_plans_result(run_json, spec, settings):
    evaluator = () if spec == "game" else ("--evaluator", "uniform")
    data = run_json("analyse", "dice_game", "--position", "14", "--plan", spec, *evaluator)
    game = aleazero.load_game("dice_game")
    result = aleazero.Planner(game, "uniform", **settings).run(game.state_from_text("14"))
    assert data["plan"] == spec
    assert data["q"] == result.q.tolist()
    assert data["stats"]["nodes"] == result.stats.nodes


def test_the_seed_and_the_nodes_reach_the_planner(run_json, refused):
    words = ("analyse", "pig", "--plan", "turn", "--evaluator", "rollout")
    first, again, other = (run_json(*words, "--seed", seed)["q"] for seed in ("1", "1", "2"))
    assert first == again != other
    assert "more than 30 states" in refused(*words, "--nodes", "30")


def test_a_plan_can_be_drawn(run, tmp_path):
    file = tmp_path / "plan.dot"
    assert run("analyse", "pig", *TURN, "--tree", str(file), "--tree-depth", "2").exit_code == 0
    assert file.read_text().startswith("digraph")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("--plan", "round"), "--plan is 'round', expected turn, game or a number of plies"),
        (("--plan", "0"), "--plan is '0'"),
        (("--plan", "2", "--sims", "10"), "--sims is 10, which has no effect: the player 'plan:plies=2' has no sims"),
        (("--plan", "2", "--chance", "open"), "--chance is 'open', which has no effect"),
        (("--plan", "game", "-p", "target=10"), "aleazero.solve"),
    ],
)
def test_options_without_effect_on_a_plan(refused, words, expected):
    assert expected in refused("analyse", "pig", *words)


def test_the_planner_plays(run_json):
    words = ("play", "pig", "--position", "80-80", "--watch", "--seed", "3", "--evaluator", "rollout:5")
    for engine in ("plan:horizon=turn", "plan:plies=2,keep=1,margin=0.5"):
        record = run_json(*words, "--opponent", engine)
        assert record["complete"] is True
        assert record["engine"] == f"{engine},evaluator=rollout:5"
        assert {step["simulations"] for step in record["steps"] if step["kind"] == "decision"} == {0}
        assert any(step.get("value") for step in record["steps"])


def test_one_plan_serves_a_turn(run_json, monkeypatch):
    plans = []
    original = aleazero.Planner.plan
    monkeypatch.setattr(aleazero.Planner, "plan", lambda self, state: plans.append(state) or original(self, state))
    steps = run_json(
        "play", "pig", "--position", "70-70", "--watch", "--seed", "3", "--opponent", "plan", "--evaluator", "uniform"
    )["steps"]
    decided = [step for step in steps if step["kind"] == "decision" and step["value"] is not None]
    assert 0 < len(plans) < len(decided)


def test_a_hint_is_a_plan(run):
    result = run("play", "dice_game", "--seed", "5", "--opponent", "plan:plies=2", stdin="?\nq\n")
    assert " loss" in result.stdout


@pytest.mark.parametrize(
    ("engine", "expected"),
    [
        ("plam", "--opponent is 'plam', did you mean plan or playout?"),
        ("search:plies=2", "no setting 'plies=2' of search"),
        ("plan:plys=2", "did you mean plies"),
        ("plan:plies", "got 'plies', expected plies=VALUE"),
        ("plan:plies=two", "plies is 'two', expected an integer"),
        ("search:sims=0", "player 'search:sims=0': sims is 0, expected"),
        ("search:evaluator=rolout", "evaluator is 'rolout', did you mean rollout"),
        ("plan:horizon=round", "horizon is 'round'"),
    ],
)
def test_invalid_player_specs_are_one_line(refused, engine, expected):
    assert expected in refused("play", "pig", "--watch", "--json", "--opponent", engine)


def test_options_set_what_a_player_spec_leaves_open(run_json, refused):
    words = ("play", "dice_game", "--watch", "--seed", "3", "--sims", "7")
    record = run_json(*words, "--opponent", "search:chance=open,evaluator=uniform")
    assert (record["simulations"], record["chance"], record["evaluator"]) == (7, "open", "uniform")
    assert "--sims is 7, which has no effect: the player 'search:sims=30' sets sims" in refused(
        *words, "--opponent", "search:sims=30"
    )
    assert {step["simulations"] for step in record["steps"] if step["kind"] == "decision"} == {7}


@pytest.mark.parametrize("engine", ["random", "greedy", "oracle"])
def test_players_without_a_search_play(run, run_json, engine):
    words = ("play", "dice_game", "--seed", "3", "--opponent", engine)
    record = run_json(*words, "--watch")
    assert record["complete"] is True
    assert {step["value"] for step in record["steps"] if step["kind"] == "decision"} == {None}
    assert f"{engine} has no search to show" in run(*words, stdin="?\nq\n").stdout
