"""No option is ignored: one that would have no effect is an error that says why.

Every option of the commands below is in one of two tables. IGNORED has the combinations in which it would have no
effect. EFFECTIVE has those that always have one, and those that may have none without harm: seeds (a player that draws
nothing gives the same answer for each), and workers and threads (which change nothing but the time).
"""

from __future__ import annotations

import pytest
import typer

from aleazero.cli.main import app

EFFECTIVE = {
    "play": "game watch position moves param opponent seed json",
    "bench": "game position moves param sims net seconds json",
    "analyse": "game position moves param nodes plan seed tree json",
    "match": "players game games seed player_seed param threads json",
    "gate": "candidate champion game rule pairs unit alpha luck seeds seed workers threads param out replays json",
    "evaluate": "",
    "train": "config game run settings workers json",
    "resume": "run settings workers json",
    "selfplay": "game out net games sims_by_class full_share temperature c noise chance parallel workers iteration "
    "seed param json",
}

GREEDY = ("play", "pig", "--watch", "--opponent", "greedy")
TEXT = (
    "play",
    "pig",
    "--watch",
    "--opponent",
    "search:sims=5,evaluations=50,chance=open,evaluator=uniform,c=1,selection=uct",
)
PLAN = ("analyse", "pig", "--plan", "turn")
REGRET = ("regret", "--player", "greedy", "--game", "pig")
TRAIN = ("train", "--game", "pig", "--run", "run")
CONFIG = ("train", "pig.yaml", "--run", "run")
SELFPLAY = ("selfplay", "--game", "pig", "--out", "replay")
WINS, RETURNS = ("gate", "greedy", "random", "--game", "pig"), ("gate", "greedy", "random", "--game", "dice_game")
THREE = ("match", "random", "random", "random", "--game", "yatzy", "-p", "players=3")

IGNORED = [
    ("seat", ("play", "pig", "--watch"), ("--seat", "0"), "the computer plays every seat"),
    *(
        (name, command, (f"--{name}", value), said)
        for name, value in (("sims", "9"), ("evaluations", "9"), ("chance", "sampling"), ("evaluator", "rollout"),
                            ("c", "1.5"), ("selection", "puct"))
        for command, said in ((GREEDY, f"the player 'greedy' has no {name}"), (TEXT, f"sets {name}"))
    ),
    ("seconds", GREEDY, ("--seconds", "1"), "greedy does not search"),
    ("seconds", ("play", "pig", "--opponent", "net:dummy,sims=0"), ("--seconds", "1"), "the network decides alone"),
    ("c", ("play", "pig", "--opponent", "net:dummy,sims=0"), ("--c", "1"), "the network decides alone"),
    ("chance", ("play", "pig", "--opponent", "net:dummy,sims=0"), ("--chance", "open"), "the network decides alone"),
    ("temperature", GREEDY, ("--temperature", "0"), "greedy does not search"),
    ("temperature", ("play", "pig", "--opponent", "plan"), ("--temperature", "1"), "plan does not search"),
    *(
        (name, PLAN, (f"--{name}", value), f"the player 'plan:horizon=turn' has no {name}")
        for name, value in (("sims", "9"), ("evaluations", "9"), ("chance", "sampling"), ("c", "1.5"),
                            ("selection", "puct"))
    ),
    ("seconds", PLAN, ("--seconds", "1"), "does not search"),
    ("evaluator", ("analyse", "pig", "--plan", "game"), ("--evaluator", "uniform"), "no effect with horizon=game"),
    ("net", ("analyse", "pig", "--evaluator", "rollout"), ("--net", "dummy"), "expected one of the two"),
    ("top", ("analyse", "pig", "--json"), ("--top", "20"), "--json prints all rows"),
    ("tree_depth", ("analyse", "pig"), ("--tree-depth", "4"), "--tree is not given"),
    ("luck", THREE, ("--luck", "shared"), "of matches of two players"),
    ("workers", THREE, ("--workers", "1"), "of matches of two players"),
    ("gain0", WINS, ("--gain0", "0"), "counts wins, expected --score0, --score1 or --unit returns"),
    ("gain1", WINS, ("--gain1", "1"), "counts wins"),
    ("score0", RETURNS, ("--score0", "0.5"), "counts returns, expected --gain0, --gain1 or --unit wins"),
    ("score1", RETURNS, ("--score1", "0.55"), "counts returns"),
    ("beta", (*WINS, "--rule", "fixed"), ("--beta", "0.05"), "no second error rate"),
    ("iteration", (*WINS, "--seed-set", "small"), ("--iteration", "1"), "--seed-set names the seeds"),
    ("replay_pairs", WINS, ("--replay-pairs", "10"), "--replays is not given"),
    *(
        (name, ("evaluate",), (f"--{name.replace('_', '-')}", *value, *REGRET), "stands before regret")
        for name, *value in (("player", "greedy"), ("game", "yatzy"), ("pairs", "100"), ("against", "random"),
                             ("seed", "0"), ("player_seed", "0"), ("workers", "1"), ("threads", "1"),
                             ("param", "players=1"), ("json",))
    ),
    ("minutes", (*TRAIN, "--rounds", "5"), ("--minutes", "1"), "expected one of them"),
    ("rounds", (*TRAIN, "--minutes", "1"), ("--rounds", "5"), "expected one of them"),
    *(
        (name, CONFIG, (f"--{name}", "1"), f"pig.yaml has the settings, expected --set {name}=VALUE")
        for name in ("minutes", "rounds", "seed")
    ),
    ("param", CONFIG, ("--param", "target=9"), "pig.yaml has the settings, expected --set params.KEY=VALUE"),
    ("width", ("bench", "pig", "--net", "dummy"), ("--width", "128"), "--net names the network"),
    ("sims", (*SELFPLAY, "--sims-by-class", "decision=3"), ("--sims", "64"), "names every class"),
    ("fast_sims", SELFPLAY, ("--fast-sims", "16"), "expected --full-share below 1"),
    ("inference", SELFPLAY, ("--inference", "onnxruntime"), "dummy, which computes nothing"),
]  # fmt: skip


def test_every_option_is_in_a_table():
    group = typer.main.get_command(app)
    for command, names in EFFECTIVE.items():
        effective = names.split()
        ignored = {name for name, words, *_ in IGNORED if words[0] == command}
        options = {parameter.name for parameter in group.commands[command].params}
        assert options == ignored | set(effective), command
        assert not ignored & set(effective), command


@pytest.mark.parametrize(
    ("command", "option", "said"),
    [(command, option, said) for _, command, option, said in IGNORED],
    ids=[f"{command[0]}-{name}-{place}" for place, (name, command, *_) in enumerate(IGNORED)],
)
def test_an_option_without_effect_is_an_error_that_says_why(refused, monkeypatch, tmp_path, command, option, said):
    monkeypatch.chdir(tmp_path)
    line = refused(*command, *option)
    assert said in line
    assert option[0] in line
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("option", [("--evaluator", "rollout"), ("--chance", "sampling"), ("--c", "1.5")])
def test_an_option_that_says_the_default_is_no_champion(run_json, option):
    for words in (("analyse", "yatzy", "--moves", "13336"), ("play", "yatzy", "--watch", "--sims", "5")):
        engine = run_json(*words, *option)["engine"]
        assert engine.startswith("search:")
        assert option[1] in engine
