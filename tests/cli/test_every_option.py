"""No option is ignored: each one changes something, or is rejected with a reason.

The tables are compared with the commands of the app, so that a new option without a case fails. ``CHANGES`` has pairs
of commands whose outputs or files differ. ``REJECTED`` has commands that must fail, with a part of the message: options
that have no effect together with others, and invalid values of options that change only the speed.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import tempfile
from pathlib import Path

import pytest
from typer.testing import CliRunner

from aleazero.cli.main import app
from aleazero.games.kit import Example

SMALL = (
    "--workers 1 --set afterstate.lanes=4 --set afterstate.lane_groups=2 --set afterstate.net.hidden=[4] --set "
    "afterstate.replay=50 --set afterstate.batch_size=16 --set evaluate.pairs=2 --set evaluate.calibration_games=4"
)
CARD = "'open sixes house upper 40 / player 0 dice 22266 rerolls 1'"
OTHER_CARD = "'open sixes upper 40 / player 0 dice 22266 rerolls 1'"

ANALYSE = "analyse dice_game --position 5 --sims 60"
PLAY = "play dice_game --watch --seed 1 --sims 5"
MATCH = "match dice_game random greedy --pairs 3"
GATE = "gate pig(target=15) greedy random --pairs 12 --rule fixed"
SPRT = "gate pig(target=15) greedy random --pairs 40"
RETURNS = "gate dice_game greedy random --pairs 12 --rule fixed"
STRENGTH = "evaluate strength dice_game random --pairs 6 --against random"
REGRET = "evaluate regret dice_game random"
ERRORS = "evaluate errors dice_game random --judge oracle --decisions 20"
SOLITAIRE = "evaluate solitaire random --games 2"
SIMULATE = "oracle yatzy simulate --games 20"
BEAROFF = "oracle bearoff build --points 3 --checkers 3"
BEAROFF_SHOW = "oracle bearoff show 101 020 --checkers 3"
BEAROFF_CHECK = "oracle bearoff check --points 3 --checkers 3 --pairs 5"
TRAIN = f"train pig(target=20) --rounds 2 {SMALL} --out new"
SELFPLAY = "selfplay pig(target=20) --games 3 --sims 4 --workers 1 --out new"
FIT = "fit replay --out new.safetensors --steps 2 --width 8 --batch-size 16"
START = "fit replay --start net.safetensors --out new.safetensors --steps 2 --batch-size 16"
BENCH = "bench dice_game --sims 20 --width 4 --seconds 0.1"
REVIEW = "review dice.json --index 0"
CHECK = "check coin.py:Coin --episodes 3"

CHANGES: dict[str, dict[str, tuple[str, str]]] = {
    "play": {
        "game": (PLAY, "play tic_tac_toe --watch --seed 1 --sims 5"),
        "seat": ("play pig --opponent greedy --seed 1", "play pig --opponent greedy --seed 1 --seat 1"),
        "watch": ("play dice_game --opponent greedy --seed 1", "play dice_game --opponent greedy --seed 1 --watch"),
        "position": (PLAY, f"{PLAY} --position 9"),
        "moves": (PLAY, f"{PLAY} --moves 'roll 5'"),
        "param": ("play pig --opponent greedy --seed 1", "play pig --opponent greedy --seed 1 -p target=20"),
        "opponent": ("play dice_game --watch --seed 1", "play dice_game --watch --seed 1 --opponent oracle"),
        "sims": (PLAY, f"{PLAY} --sims 9"),
        "seconds": (PLAY, "play dice_game --watch --seed 1 --seconds 0.001"),
        "evaluations": (PLAY, f"{PLAY} --evaluations 3"),
        "chance": (PLAY, f"{PLAY} --chance open"),
        "evaluator": (PLAY, f"{PLAY} --evaluator uniform"),
        "temperature": (f"{PLAY} --sims 30", f"{PLAY} --sims 30 --temperature 9"),
        "opened": ("play pig --opponent greedy --seed 1", "play --load saved.json"),
        "save": (PLAY, f"{PLAY} --save recorded.json"),
        "seed": (PLAY, f"{PLAY} --seed 2"),
        "c": (PLAY, f"{PLAY} --c 0.1"),
        "selection": (PLAY, f"{PLAY} --selection uct"),
        "json": (PLAY, f"{PLAY} --json"),
    },
    "analyse": {
        "game": (ANALYSE, "analyse pig --position '5-9 turn 3' --sims 60"),
        "position": (ANALYSE, f"{ANALYSE} --position 9"),
        "moves": (ANALYSE, f"{ANALYSE} --moves 'roll 5'"),
        "param": ("analyse pig --position '5-9 turn 3' --sims 60",
                  "analyse pig --position '5-9 turn 3' --sims 60 -p target=20"),
        "sims": (ANALYSE, f"{ANALYSE} --sims 70"),
        "seconds": (ANALYSE, f"{ANALYSE} --sims 1000000 --seconds 0.05"),
        "evaluations": (ANALYSE, f"{ANALYSE} --evaluations 9"),
        "nodes": (ANALYSE, f"{ANALYSE} --nodes 9"),
        "chance": (ANALYSE, f"{ANALYSE} --chance full"),
        "evaluator": (ANALYSE, f"{ANALYSE} --evaluator uniform"),
        "net": (ANALYSE, f"{ANALYSE} --net dummy"),
        "plan": ("analyse dice_game --position 5", "analyse dice_game --position 5 --plan turn"),
        "seed": (ANALYSE, f"{ANALYSE} --seed 1"),
        "c": (ANALYSE, f"{ANALYSE} --c 0.1"),
        "selection": (ANALYSE, f"{ANALYSE} --selection uct"),
        "top": (ANALYSE, f"{ANALYSE} --top 1"),
        "tree": (ANALYSE, f"{ANALYSE} --tree tree.json"),
        "tree_depth": (f"{ANALYSE} --tree tree.json", f"{ANALYSE} --tree tree.json --tree-depth 1"),
        "json": (ANALYSE, f"{ANALYSE} --json"),
    },
    "watch": {
        "file": ("watch games.json", "watch other.json"),
        "index": ("watch games.json", "watch games.json --index 1"),
        "json": ("watch games.json", "watch games.json --json"),
    },
    "review": {
        "file": (REVIEW, "review games.json --index 0"),
        "index": (REVIEW, "review dice.json --index 1"),
        "judge": (REVIEW, f"{REVIEW} --judge search:sims=5"),
        "error": (REVIEW, f"{REVIEW} --error 0.01"),
        "blunder": (REVIEW, f"{REVIEW} --blunder 0.01"),
        "html": (REVIEW, f"{REVIEW} --html page.html"),
        "json": (REVIEW, f"{REVIEW} --json"),
    },
    "games": {"json": ("games", "games --json")},
    "check": {
        "game": (CHECK, "check dice_game --episodes 3"),
        "param": (CHECK, f"{CHECK} -p bias=0.9"),
        "episodes": (CHECK, f"{CHECK} --episodes 4"),
        "states": (CHECK, f"{CHECK} --states 2"),
        "seed": ("check dice_game --episodes 3", "check dice_game --episodes 3 --seed 1"),
        "json": (CHECK, f"{CHECK} --json"),
    },
    "demo": {"sims": ("demo --sims 20", "demo --sims 30"), "seed": ("demo --sims 20", "demo --sims 20 --seed 1")},
    "train": {
        "what": (TRAIN, "train small.yaml --workers 1 --out new"),
        "out": (TRAIN, f"{TRAIN} --out other"),
        "minutes": (TRAIN, f"train pig(target=20) --minutes 0.01 {SMALL} --out new"),
        "rounds": (TRAIN, f"{TRAIN} --rounds 3"),
        "seed": (TRAIN, f"{TRAIN} --seed 1"),
        "settings": (TRAIN, f"{TRAIN} --set evaluate.pairs=3"),
        "json": (TRAIN, f"{TRAIN} --json"),
    },
    "resume": {
        "run": ("resume runs/one", "resume runs/two"),
        "settings": ("resume runs/one", "resume runs/one --workers 1 --set rounds=4 --set iterations=2"),
        "json": ("resume runs/one", "resume runs/one --json"),
    },
    "report": {
        "run": ("report runs/one", "report runs/two"),
        "out": ("report runs/one", "report runs/one --out page.html"),
        "show": ("report runs/one", "report runs/one --open"),
        "json": ("report runs/one", "report runs/one --json"),
    },
    "models": {"json": ("models", "models --json")},
    "runs list": {"folder": ("runs list", "runs list more"), "json": ("runs list", "runs list --json")},
    "runs show": {
        "run": ("runs show runs/one", "runs show runs/two"),
        "json": ("runs show runs/one", "runs show runs/one --json"),
    },
    "runs compare": {
        "runs": ("runs compare runs/one runs/two", "runs compare runs/two runs/one"),
        "json": ("runs compare runs/one runs/two", "runs compare runs/one runs/two --json"),
    },
    "config new": {
        "game": ("config new pig", "config new dice_game"),
        "out": ("config new pig", "config new pig --out pig.yaml"),
        "param": ("config new pig", "config new pig -p target=20"),
        "settings": ("config new pig", "config new pig --set seed=3"),
    },
    "config show": {
        "config": ("config show small.yaml", "config show other.yaml"),
        "settings": ("config show small.yaml", "config show small.yaml --set seed=3"),
    },
    "config check": {"configs": ("config check small.yaml", "config check small.yaml other.yaml")},
    "config schema": {},
    "match": {
        "game": (MATCH, "match tic_tac_toe random greedy --pairs 3"),
        "players": (MATCH, "match dice_game random oracle --pairs 3"),
        "pairs": (MATCH, f"{MATCH} --pairs 4"),
        "seed": (MATCH, f"{MATCH} --seed 1"),
        "player_seed": (MATCH, f"{MATCH} --player-seed 1"),
        "save": (MATCH, f"{MATCH} --save recorded.json"),
        "dice": (f"{MATCH} --pairs 20", f"{MATCH} --pairs 20 --dice fresh"),
        "param": ("match pig greedy random --pairs 2", "match pig greedy random --pairs 2 -p target=15"),
        "json": (MATCH, f"{MATCH} --json"),
    },
    "gate": {
        "game": (GATE, "gate pig(target=20) greedy random --pairs 12 --rule fixed"),
        "candidate": (GATE, "gate pig(target=15) random random --pairs 12 --rule fixed"),
        "champion": (GATE, "gate pig(target=15) greedy greedy --pairs 12 --rule fixed"),
        "rule": (GATE, f"{GATE} --rule sprt"),
        "pairs": (GATE, f"{GATE} --pairs 13"),
        "unit": (GATE, f"{GATE} --unit returns"),
        "score0": (GATE, f"{GATE} --score0 0.4"),
        "score1": (GATE, f"{GATE} --score1 0.6"),
        "gain0": (RETURNS, f"{RETURNS} --gain0 -1"),
        "gain1": (RETURNS, f"{RETURNS} --gain1 5"),
        "alpha": (GATE, f"{GATE} --alpha 0.1"),
        "beta": (SPRT, f"{SPRT} --beta 0.2"),
        "dice": (GATE, f"{GATE} --dice fresh --json"),
        "seeds": (GATE, f"{GATE} --seed-set small"),
        "seed": (GATE, f"{GATE} --seed 1"),
        "iteration": (GATE, f"{GATE} --iteration 1"),
        "param": ("gate pig greedy random --pairs 10 --rule fixed",
                  "gate pig greedy random --pairs 10 --rule fixed -p target=15"),
        "out": (GATE, f"{GATE} --out report.json"),
        "replays": (GATE, f"{GATE} --replays recorded.json"),
        "replay_pairs": (f"{GATE} --replays recorded.json", f"{GATE} --replays recorded.json --replay-pairs 1"),
        "json": (GATE, f"{GATE} --json"),
    },
    "evaluate strength": {
        "game": (STRENGTH, "evaluate strength tic_tac_toe random --pairs 2 --against random"),
        "player": (STRENGTH, "evaluate strength dice_game greedy --pairs 2 --against random"),
        "pairs": (STRENGTH, f"{STRENGTH} --pairs 7"),
        "against": (STRENGTH, f"{STRENGTH} --against oracle"),
        "seed": (STRENGTH, f"{STRENGTH} --seed 1"),
        "player_seed": (STRENGTH, f"{STRENGTH} --player-seed 1"),
        "json": (STRENGTH, f"{STRENGTH} --json"),
    },
    "evaluate regret": {
        "game": (REGRET, "evaluate regret tic_tac_toe random"),
        "player": (REGRET, "evaluate regret dice_game greedy"),
        "set_name": (REGRET, f"{REGRET} --set positions.json"),
        "seed": (REGRET, f"{REGRET} --seed 1"),
        "json": (REGRET, f"{REGRET} --json"),
    },
    "evaluate errors": {
        "game": (ERRORS, "evaluate errors tic_tac_toe random --judge oracle --decisions 20"),
        "player": (ERRORS, "evaluate errors dice_game greedy --judge oracle --decisions 20"),
        "judge": (
            "evaluate errors backgammon random --judge gnubg --decisions 3",
            "evaluate errors backgammon random --judge bgsage:ply=1 --decisions 3",
        ),
        "set_name": (
            "evaluate errors backgammon random --judge gnubg --decisions 3",
            "evaluate errors backgammon random --set standard",
        ),
        "decisions": (ERRORS, f"{ERRORS} --decisions 21"),
        "seed": (ERRORS, f"{ERRORS} --seed 1"),
        "player_seed": (ERRORS, f"{ERRORS} --player-seed 1"),
        "json": (ERRORS, f"{ERRORS} --json"),
    },
    "evaluate solitaire": {
        "player": (SOLITAIRE, "evaluate solitaire greedy --games 2"),
        "games": (SOLITAIRE, f"{SOLITAIRE} --games 3"),
        "seed": (SOLITAIRE, f"{SOLITAIRE} --seed 1"),
        "player_seed": (SOLITAIRE, f"{SOLITAIRE} --player-seed 1"),
        "json": (SOLITAIRE, f"{SOLITAIRE} --json"),
    },
    "oracle yatzy expected": {"json": ("oracle yatzy expected", "oracle yatzy expected --json")},
    "oracle yatzy show": {
        "position": (f"oracle yatzy show {CARD}", f"oracle yatzy show {OTHER_CARD}"),
        "top": (f"oracle yatzy show {CARD}", f"oracle yatzy show {CARD} --top 2"),
        "json": (f"oracle yatzy show {CARD}", f"oracle yatzy show {CARD} --json"),
    },
    "oracle yatzy simulate": {
        "games": (SIMULATE, f"{SIMULATE} --games 21"),
        "seed": (SIMULATE, f"{SIMULATE} --seed 1"),
        "plot": (SIMULATE, f"{SIMULATE} --plot scores.png"),
        "json": (SIMULATE, f"{SIMULATE} --json"),
    },
    "oracle bearoff build": {
        "points": (BEAROFF, f"{BEAROFF} --points 4"),
        "checkers": (BEAROFF, f"{BEAROFF} --checkers 4"),
        "one_sided": (BEAROFF, "oracle bearoff build --one-sided"),
        "estimate": (BEAROFF, f"{BEAROFF} --estimate"),
        "json": (BEAROFF, f"{BEAROFF} --json"),
    },
    "oracle bearoff show": {
        "me": (BEAROFF_SHOW, "oracle bearoff show 111 020 --checkers 3"),
        "them": (BEAROFF_SHOW, "oracle bearoff show 101 030 --checkers 3"),
        "dice": (BEAROFF_SHOW, f"{BEAROFF_SHOW} --dice 21"),
        "approximate": ("oracle bearoff show 100001 020000", "oracle bearoff show 100001 020000 --approximate"),
        "top": ("oracle bearoff show 111 020 --checkers 3 --dice 21",
                "oracle bearoff show 111 020 --checkers 3 --dice 21 --top 1"),
        "json": (BEAROFF_SHOW, f"{BEAROFF_SHOW} --json"),
    },
    "oracle bearoff check": {
        "points": (BEAROFF_CHECK, f"{BEAROFF_CHECK} --points 4"),
        "checkers": (BEAROFF_CHECK, f"{BEAROFF_CHECK} --checkers 4"),
        "pairs": (BEAROFF_CHECK, f"{BEAROFF_CHECK} --pairs 6"),
        "seed": (f"{BEAROFF_CHECK} --json", f"{BEAROFF_CHECK} --seed 1 --json"),
        "json": (BEAROFF_CHECK, f"{BEAROFF_CHECK} --json"),
    },
    "selfplay": {
        "game": (SELFPLAY, "selfplay dice_game --games 3 --sims 4 --workers 1 --out new"),
        "out": (SELFPLAY, f"{SELFPLAY} --out other"),
        "net": (SELFPLAY, f"{SELFPLAY} --net net.safetensors"),
        "games": (SELFPLAY, f"{SELFPLAY} --games 4"),
        "sims": (SELFPLAY, f"{SELFPLAY} --sims 5"),
        "sims_by_class": (SELFPLAY, SELFPLAY.replace("--sims 4", "--sims-by-class decision=5")),
        "full_share": (SELFPLAY, f"{SELFPLAY} --full-share 0.5"),
        "fast_sims": (f"{SELFPLAY} --full-share 0.5", f"{SELFPLAY} --full-share 0.5 --fast-sims 2"),
        "temperature": (SELFPLAY, f"{SELFPLAY} --temperature 0"),
        "c": (SELFPLAY, f"{SELFPLAY} --c 0.1"),
        "noise": (SELFPLAY, f"{SELFPLAY} --noise 0"),
        "chance": (SELFPLAY, f"{SELFPLAY} --chance open"),
        "iteration": (SELFPLAY, f"{SELFPLAY} --iteration 1"),
        "seed": (SELFPLAY, f"{SELFPLAY} --seed 1"),
        "param": (SELFPLAY.replace("(target=20)", ""), SELFPLAY.replace("(target=20)", " -p target=20")),
        "json": (SELFPLAY, f"{SELFPLAY} --json"),
    },
    "fit": {
        "replay": (FIT, "fit more_replay --out new.safetensors --steps 2 --width 8 --batch-size 16"),
        "out": (FIT, f"{FIT} --out other.safetensors"),
        "start": (FIT, START),
        "steps": (FIT, f"{FIT} --steps 3"),
        "batch_size": (FIT, f"{FIT} --batch-size 17"),
        "window": (FIT, f"{FIT} --window 30"),
        "width": (FIT, f"{FIT} --width 9"),
        "blocks": (FIT, f"{FIT} --blocks 1"),
        "afterstates": (FIT, f"{FIT} --no-afterstates"),
        "margin": (FIT, f"{FIT} --margin"),
        "target": (FIT, f"{FIT} --target outcome"),
        "learning_rate": (FIT, f"{FIT} --learning-rate 0.1"),
        "optimizer": (START, f"{START} --optimizer fresh"),
        "seed": (FIT, f"{FIT} --seed 1"),
        "json": (FIT, f"{FIT} --json"),
    },
    "replay show": {
        "folder": ("replay show replay", "replay show more_replay"),
        "json": ("replay show replay", "replay show replay --json"),
    },
    "replay check": {
        "folder": ("replay check replay", "replay check more_replay"),
        "json": ("replay check replay", "replay check replay --json"),
    },
    "bench": {
        "game": (BENCH, "bench tic_tac_toe --sims 20 --width 4 --seconds 0.1"),
        "position": (BENCH, f"{BENCH} --position 5"),
        "moves": (BENCH, f"{BENCH} --moves 'roll 5'"),
        "param": ("bench pig --sims 20 --seconds 0.1", "bench pig --sims 20 --seconds 0.1 -p target=20"),
        "sims": (BENCH, f"{BENCH} --sims 30"),
        "net": (BENCH, "bench dice_game --sims 20 --net dummy --seconds 0.1"),
        "width": (BENCH, f"{BENCH} --width 5"),
        "json": (BENCH, f"{BENCH} --json"),
    },
    "cache info": {"json": ("cache info", "cache info --json")},
    "cache clear": {"json": ("cache clear", "cache clear --json")},
}  # fmt: skip

GREEDY = "play pig --watch --opponent greedy"
SPEC = "play pig --watch --opponent search:sims=5,evaluations=50,chance=open,evaluator=uniform,c=1,selection=uct"
PLAN = "analyse pig --plan turn"
DUMMY = "play pig --opponent net:dummy,sims=0"
THREE = "match yatzy(players=3) random random random"
CONFIG = "train small.yaml --out new"
VALUES = {
    "sims": "9",
    "evaluations": "9",
    "chance": "sampling",
    "evaluator": "rollout",
    "c": "1.5",
    "selection": "puct",
}

REJECTED: list[tuple[str, str, str, str]] = [
    ("play", "seat", "play pig --watch --seat 0", "the computer plays every seat"),
    ("play", "json", "play pig --json", "--json requires --watch"),
    ("play", "game", "play", "got no GAME, expected one, or --load FILE"),
    *(("play", name, f"play --load saved.json --{name} {value}", "--load continues a game that has its own")
      for name, value in (("seed", "1"), ("position", "1-2"), ("moves", "roll"), ("param", "target=20"))),
    *(("play", name, f"{GREEDY} --{name} {value}", f"'greedy' has no {name}") for name, value in VALUES.items()),
    *(("play", name, f"{SPEC} --{name} {value}", f"sets {name}") for name, value in VALUES.items()),
    ("play", "seconds", f"{GREEDY} --seconds 1", "greedy does not search"),
    ("play", "seconds", f"{DUMMY} --seconds 1", "--seconds "),
    ("play", "c", f"{DUMMY} --c 1", "--c "),
    ("play", "chance", f"{DUMMY} --chance open", "--chance "),
    ("play", "chance", "play tic_tac_toe --chance open", "tic_tac_toe has no chance"),
    ("play", "temperature", f"{GREEDY} --temperature 0", "greedy does not search"),
    ("play", "temperature", "play pig --opponent plan --temperature 1", "plan does not search"),
    *(("analyse", name, f"{PLAN} --{name} {value}", f"the player 'plan:horizon=turn' has no {name}")
      for name, value in VALUES.items() if name != "evaluator"),
    ("analyse", "seconds", f"{PLAN} --seconds 1", "does not search"),
    ("analyse", "seed", f"{PLAN} --evaluator uniform --seed 1", "draws nothing at random"),
    ("analyse", "seed", "analyse yatzy --seed 1", "draws nothing at random; --sims searches"),
    ("analyse", "evaluator", "analyse pig --plan game --evaluator uniform", "no effect with horizon=game"),
    ("analyse", "chance", "analyse tic_tac_toe --chance open", "tic_tac_toe has no chance"),
    ("analyse", "net", "analyse pig --evaluator rollout --net dummy", "expected only one of them"),
    ("analyse", "top", "analyse pig --json --top 20", "--json prints all rows"),
    ("analyse", "tree_depth", "analyse pig --tree-depth 4", "it requires --tree"),
    ("watch", "delay", "watch games.json --json --delay 1", "--json prints all steps at once"),
    ("review", "index", "review games.json --index 99", "--index is 99, expected 0 to"),
    ("review", "html", "review games.json --html page.html", "expected --index N"),
    ("check", "seconds", f"{CHECK} --seconds 0", "--seconds"),
    ("train", "minutes", f"{TRAIN} --minutes 1", "expected only one of them"),
    ("train", "param", "train pig -p target=1", "target is 1, expected"),
    *(("train", name, f"{CONFIG} --{name} 1", f"small.yaml has the settings, expected --set {name}=VALUE")
      for name in ("minutes", "rounds", "seed")),
    ("train", "param", f"{CONFIG} --param target=9", "small.yaml has the settings, expected --set params.KEY=VALUE"),
    ("train", "workers", "train pig --workers 0", "--workers"),
    ("resume", "workers", "resume runs/one --workers 0", "--workers"),
    ("runs tensorboard", "run", "runs tensorboard nowhere", "nowhere is not a run"),
    ("config new", "out", "config new pig --out small.yaml", "which exists, expected a new file"),
    ("config check", "settings", "config check small.yaml --set gate.pairs=few", "gate.pairs is 'few', expected"),
    ("match", "dice", f"{THREE} --dice shared", "it applies to matches of two players"),
    ("match", "workers", f"{THREE} --workers 1", "it applies to matches of two players"),
    ("match", "players", "match pig random", "got 1 player, expected 2 for pig"),
    ("match", "threads", f"{MATCH} --threads 0", "--threads"),
    ("gate", "gain0", f"{GATE} --gain0 0", "measures wins, expected --score0, --score1 or --unit returns"),
    ("gate", "gain1", f"{GATE} --gain1 1", "measures wins"),
    ("gate", "score0", f"{RETURNS} --score0 0.5", "measures returns, expected --gain0, --gain1 or --unit wins"),
    ("gate", "score1", f"{RETURNS} --score1 0.55", "measures returns"),
    ("gate", "beta", f"{GATE} --beta 0.05", "--rule fixed has no second error rate"),
    ("gate", "iteration", f"{GATE} --seed-set small --iteration 1", "--seed-set fixes the dice"),
    ("gate", "replay_pairs", f"{GATE} --replay-pairs 10", "it requires --replays"),
    ("gate", "workers", f"{GATE} --workers 0", "--workers"),
    ("gate", "threads", f"{GATE} --threads 0", "--threads"),
    ("evaluate strength", "workers", f"{STRENGTH} --workers 0", "--workers"),
    ("evaluate strength", "threads", f"{STRENGTH} --threads 0", "--threads"),
    ("evaluate strength", "param", "evaluate strength pig greedy -p target=1", "target is 1, expected"),
    ("evaluate regret", "param", "evaluate regret pig greedy -p target=1", "target is 1, expected"),
    ("evaluate regret", "threads", f"{REGRET} --threads 0", "--threads"),
    ("evaluate errors", "param", "evaluate errors pig greedy --judge oracle -p target=1", "target is 1, expected"),
    ("evaluate errors", "threads", f"{ERRORS} --threads 0", "--threads"),
    ("evaluate errors", "workers", f"{ERRORS} --workers 0", "--workers"),
    ("evaluate errors", "judge", "evaluate errors backgammon random --set standard --judge gnubg", "--set are fixed"),
    ("evaluate errors", "decisions", "evaluate errors backgammon random --set standard --decisions 9", "are fixed"),
    ("evaluate errors", "seed", "evaluate errors backgammon random --set standard --seed 1", "--set are fixed"),
    ("evaluate errors", "workers", "evaluate errors backgammon random --set standard --workers 2", "--set are fixed"),
    ("evaluate solitaire", "threads", f"{SOLITAIRE} --threads 0", "--threads"),
    ("oracle yatzy show", "top", f"oracle yatzy show {CARD} --json --top 5", "--json prints all actions"),
    ("oracle bearoff build", "threads", f"{BEAROFF} --threads 0", "--threads"),
    ("oracle bearoff build", "checkers", "oracle bearoff build --one-sided --checkers 7", "up to 15 checkers"),
    ("oracle bearoff show", "checkers", "oracle bearoff show 111 020 --checkers 2", "got 3 checkers"),
    ("oracle bearoff show", "top", f"{BEAROFF_SHOW} --top 2", "it requires --dice"),
    ("oracle bearoff show", "dice", f"{BEAROFF_SHOW} --approximate --dice 21", "no values after a roll"),
    ("selfplay", "sims", f"{SELFPLAY} --sims-by-class decision=3", "--sims-by-class sets all classes"),
    ("selfplay", "fast_sims", f"{SELFPLAY} --fast-sims 16", "expected --full-share below 1"),
    ("selfplay", "inference", f"{SELFPLAY} --inference onnxruntime", "dummy, which needs no library"),
    ("selfplay", "inference", f"{SELFPLAY} --net net.safetensors --inference jax", "inference is 'jax'"),
    ("selfplay", "workers", f"{SELFPLAY} --workers 0", "--workers"),
    ("selfplay", "parallel", f"{SELFPLAY} --parallel 0", "--parallel"),
    ("fit", "optimizer", f"{FIT} --optimizer kept", "it requires --start"),
    ("fit", "device", f"{FIT} --device gpu", "--device is 'gpu'"),
    ("fit", "threads", f"{FIT} --threads 0", "--threads"),
    ("engine", "workers", "engine --workers 0", "--workers"),
    ("engine", "game_file", "engine --game-file missing.py", "'missing.py', expected a file that exists"),
    ("engine", "net", "engine --net best=net.safetensors --net best=net.safetensors", "--net: 'best' is given twice"),
    ("engine", "limit", "engine --limit sims=0", "--limit: sims is 0, expected"),
    ("serve api", "host", "serve api --host 0.0.0.0", "which other machines may reach: expected a token"),
    ("serve api", "port", "serve api --port 70000", "--port"),
    ("serve api", "token_file", "serve api --token-file missing", "missing cannot be read"),
    ("serve api", "allow_host", "serve api --allow-host http://box", "expected the name of a host without port"),
    ("serve api", "game_file", "serve api --game-file =", "expected a path or NAME=PATH"),
    ("serve api", "net", "serve api --net =", "expected a path or NAME=PATH"),
    ("serve api", "runs", "serve api --runs missing", "--runs is 'missing', expected a folder"),
    ("serve api", "sessions", "serve api --sessions small.yaml", "small.yaml cannot be written"),
    ("serve api", "workers", "serve api --workers 0", "--workers"),
    ("serve api", "limit", "serve api --limit sims=0", "--limit: sims is 0, expected"),
    ("web", "games", "web chess", "no game 'chess'"),
    ("web", "games", "web missing.py", "missing.py does not exist, expected the file of a game"),
    ("web", "host", "web --host 0.0.0.0", "which other machines may reach: expected a token"),
    ("web", "port", "web --port 70000", "--port"),
    ("web", "open_browser", "web --no-open --port 70000", "--port"),
    ("web", "token_file", "web --token-file missing", "missing cannot be read"),
    ("web", "allow_host", "web --allow-host http://box", "expected the name of a host without port"),
    ("web", "net", "web --net =", "expected a path or NAME=PATH"),
    ("web", "runs", "web --runs missing", "--runs is 'missing', expected a folder"),
    ("web", "sessions", "web --sessions small.yaml", "small.yaml cannot be written"),
    ("web", "workers", "web --workers 0", "--workers"),
    ("web", "limit", "web --limit sims=0", "--limit: sims is 0, expected"),
    ("bench", "width", f"{BENCH} --net dummy", "--net sets the network"),
    ("bench", "seconds", "bench dice_game --seconds 0", "--seconds"),
]  # fmt: skip

PICKED = {
    "analyse": ("visits", "q", "value", "outcomes", "stopped"),
    "bench": ("game", "params", "position", "network", "simulations"),
}
"""Keys of the JSON output that show an effect; others repeat the options, or are times."""
NOT_IN_JSON = ("json", "top", "tree", "tree_depth")
TIMES = re.compile(r"[\d.,]+ (?:ms|s|min|h)\b|[\d.,]+/s|(?<=\"seconds\": )[\d.e-]+|[\d.]+ minutes")
TIMELESS = re.compile(
    r"(?:models|replay|new|other|more)[^.]*\.safetensors$|tree\.json$|opened$|\.html$|recorded\.json$|report\.json$|\.png$|config\.yaml$|pig\.yaml$"
)
"""Files without times."""


@pytest.fixture(scope="module")
def bearoff_tables():
    """Build the bear-off tables before the commands need them."""
    from aleazero.oracles.bearoff import OneSided, TwoSided

    OneSided.load_or_build()
    for points, checkers in ((6, 6), (3, 3), (4, 3), (3, 4), (3, 2)):
        TwoSided.load_or_build(points, checkers)


@pytest.fixture(scope="module")
def stage(tmp_path_factory, oracle, bearoff_tables, coin_rules):
    """A folder with runs, samples, networks, configs and recorded games, made by the commands themselves."""
    folder = tmp_path_factory.mktemp("stage")
    before = Path.cwd()
    os.chdir(folder)
    try:
        for command in (
            TRAIN.replace("--out new", "--out runs/one"),
            TRAIN.replace("--out new", "--out runs/two") + " --seed 3",
            SELFPLAY.replace("--out new", "--out replay"),
            SELFPLAY.replace("--out new", "--out more_replay") + " --games 5",
            FIT.replace("new.", "net."),
            f"{GATE} --replays games.json",
            f"{GATE} --replays other.json --seed 1",
            "play pig --opponent random --seed 2 --save saved.json",
            "match dice_game greedy random --pairs 1 --save dice.json",
        ):
            result = CliRunner().invoke(app, shlex.split(command))
            assert result.exit_code == 0, result.output
        shutil.copytree("runs/one", "more/three")
        text = Path("runs/one/config.yaml").read_text(encoding="utf-8")
        Path("small.yaml").write_text(text.replace("seed: 0", "seed: 5", 1), encoding="utf-8")
        Path("other.yaml").write_text(text.replace("seed: 0", "seed: 6", 1), encoding="utf-8")
        Path("coin.py").write_text(coin_rules, encoding="utf-8")
        Path("positions.json").write_text(json.dumps(["5", "14"]), encoding="utf-8")
        Path("cache/kernels").mkdir(parents=True)
    finally:
        os.chdir(before)
    return folder


@pytest.fixture
def invoke(stage, tmp_path, monkeypatch):
    """Run a command in a copy of the stage: few examples and charts, and a browser that writes a file."""
    from aleazero import report
    from aleazero.cli.verbs import games
    from aleazero.report import charts

    def call(command):
        folder = Path(tempfile.mkdtemp(dir=tmp_path)) / "stage"
        shutil.copytree(stage, folder)
        monkeypatch.chdir(folder)
        if command.startswith("cache"):
            monkeypatch.setenv("ALEAZERO_CACHE_DIR", str(folder / "cache"))
        if command.startswith(("train", "resume")):
            monkeypatch.setattr(report, "why_no_report", lambda: "not in this test")
        return CliRunner().invoke(app, shlex.split(command), input="q\n")

    monkeypatch.setenv("COLUMNS", "100")
    examples = [("dice_game", Example("A decision", "5")), ("dice_game", Example("A game"))]
    monkeypatch.setattr(games, "all_examples", lambda: examples)
    every = charts.charts_of
    monkeypatch.setattr(charts, "charts_of", lambda run: every(run)[:1])
    monkeypatch.setattr("webbrowser.open", lambda page: Path("opened").write_text("", encoding="utf-8"))
    return call


@pytest.fixture
def effect(stage, invoke):
    """What a command prints, without times, and the files that it writes; each command runs once."""

    def call(command, option):
        picked = PICKED.get(command.split()[0]) if option not in NOT_IN_JSON else None
        line = f"{command} --json" if picked else command
        if line not in EFFECTS:
            result = invoke(line)
            assert result.exit_code == 0, f"{line}\n{result.output}"
            old = {str(file.relative_to(stage)): file.read_bytes() for file in stage.rglob("*") if file.is_file()}
            new = {str(file): file.read_bytes() for file in Path().rglob("*") if file.is_file()}
            written = {name: data for name, data in new.items() if old.get(name) != data and TIMELESS.search(name)}
            EFFECTS[line] = TIMES.sub("0", result.stdout), written
        text, written = EFFECTS[line]
        return ({key: json.loads(text).get(key) for key in picked} if picked else text), written

    return call


EFFECTS: dict[str, tuple[str, dict[str, bytes]]] = {}


def test_every_option_has_a_case(commands):
    alone = {"runs tensorboard", "engine", "serve api", "web"}
    assert {" ".join(path) for path in commands} == CHANGES.keys() | alone
    for path, command in commands.items():
        name = " ".join(path)
        cases = CHANGES.get(name, {}).keys() | {option for verb, option, *_ in REJECTED if verb == name}
        assert {parameter.name for parameter in command.params} == cases, name


@pytest.mark.parametrize(
    ("name", "first", "second"),
    [
        pytest.param(option, *pair, id=f"{command}-{option}")
        for command, options in CHANGES.items()
        for option, pair in options.items()
    ],
)
def test_an_option_changes_something(effect, name, first, second):
    assert effect(first, name) != effect(second, name)


@pytest.mark.parametrize(
    ("command", "message"),
    [pytest.param(command, message, id=f"{verb}-{option}") for verb, option, command, message in REJECTED],
)
def test_an_option_without_effect_is_rejected(invoke, command, message):
    result = invoke(command)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert message in " ".join(result.stderr.split())
    assert not Path("new").exists()


@pytest.mark.parametrize("option", [("--evaluator", "rollout"), ("--chance", "sampling"), ("--c", "1.5")])
def test_an_option_with_its_default_value_runs_a_search(run_json, option):
    for words in (("analyse", "yatzy", "--moves", "13336"), ("play", "yatzy", "--watch", "--sims", "5")):
        engine = run_json(*words, *option)["engine"]
        assert engine.startswith("search:")
        assert option[1] in engine
