"""Settings of a run: one file, one strict schema. Unknown keys and impossible values fail by the key's path."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

from pydantic import Field

from aleazero.errors import ConfigError, fields_below, fields_named, nearest
from aleazero.evaluation.gate import gate_seeds
from aleazero.evaluation.gate_config import GateConfig
from aleazero.evaluation.learnt import can_judge
from aleazero.evaluation.opponents import NAMES
from aleazero.games.base import Game
from aleazero.games.registry import load_game
from aleazero.players.spec import parse_spec
from aleazero.search.config import SearchConfig
from aleazero.selfplay.config import SelfplayConfig
from aleazero.settings import Settings
from aleazero.training.afterstate_config import AfterstateConfig
from aleazero.training.config import TrainConfig
from aleazero.training.learn import UNKNOWN
from aleazero.training.recipe import make_config
from aleazero.training.tuple_learning import TupleConfig

RUN_LEVEL: Final = ("seed", "rounds")
"""Settings of a recipe that the run has for itself."""


class AlphazeroConfig(Settings):
    """The recipe ``alphazero``: games with a search, and a fit, in each iteration."""

    games: int = Field(256, ge=1, description="Of self-play in an iteration.")
    first_games: int = Field(512, ge=1, description="In the first one, which knows nothing yet.")
    selfplay: SelfplayConfig = Field(default_factory=SelfplayConfig, description="How its games are played.")
    train: TrainConfig = Field(
        default_factory=TrainConfig, description="How a network is fitted; the seed is the run's."
    )
    inference: Literal["onnxruntime", "torch"] = Field("onnxruntime", description="What computes networks in play.")
    actor: Literal["newest", "champion"] = Field("newest", description="Whose network plays against itself.")
    start: Literal["newest", "champion"] = Field("newest", description="Whose weights a fit goes on from.")


class EvaluateConfig(Settings):
    """What is measured beside the gate."""

    every: int = Field(
        1, ge=1, description="In each iteration whose number is a multiple; the last is always measured."
    )
    pairs: int = Field(100, ge=2, description="Against each opponent, on the same luck with seats swapped.")
    against: tuple[str, ...] | None = Field(
        None,
        strict=False,
        description="Which of the fixed opponents: random, rollout, oracle; left out: all that the game has.",
    )
    oracle_games: int = Field(
        2000, ge=0, description="Against the player who is best alone, or alone, judged by it, in Yatzy; 0 for none."
    )
    final_pairs: int = Field(
        0, ge=0, description="Of the champion when the run is over, on other luck, against each opponent."
    )
    final_games: int = Field(0, ge=0, description="Likewise, measured as with oracle_games.")
    calibration_games: int = Field(
        1000, ge=0, description="Of a network against itself, for how right its values are (recipe afterstate)."
    )
    regret: bool = Field(True, description="Whether decisions are judged on the game's fixed set, where it has one.")


class KeepConfig(Settings):
    """What stays on disk."""

    models: int = Field(20, ge=1, description="Newest models; the champion stays in any case.")
    samples: int = Field(1_000_000, ge=1, description="Newest samples of self-play; the training window stays anyway.")


class RunConfig(Settings):
    """All that a run is."""

    game: str = Field(description="A game's name, or your own as path/file.py:NAME, from this file's folder.")
    params: dict[str, Any] = Field(default_factory=dict, description="Of the game.")
    recipe: Literal["afterstate", "alphazero"] = Field(
        "afterstate", description="afterstate: turns planned exactly; alphazero: self-play with a search."
    )
    seed: int = Field(0, ge=0, lt=2**63, description="Same seed and settings, same run to the bit.")
    iterations: int = Field(6, ge=1, lt=UNKNOWN, description="After each, a gate and an evaluation.")
    rounds: int | None = Field(
        None, ge=1, lt=UNKNOWN, description="Of the afterstate recipe, in all iterations together."
    )
    minutes: float | None = Field(
        None, gt=0, description="Instead of rounds: about how long is learnt, gates and evaluations excluded."
    )
    afterstate: dict[str, Any] = Field(
        default_factory=dict, description="Settings of the afterstate recipe (`net` inside); left out: what suits."
    )
    alphazero: AlphazeroConfig = Field(default_factory=AlphazeroConfig, description="Settings of that recipe.")
    play: str = Field(
        "", description="How a network plays in gates and evaluations, behind net:PATH, e.g. `sims=64,c=0.12`."
    )
    gate: GateConfig = Field(default_factory=GateConfig, description="What it takes to become the champion.")
    evaluate: EvaluateConfig = Field(
        default_factory=EvaluateConfig, description="What each iteration, and the champion, is measured by."
    )
    keep: KeepConfig = Field(default_factory=KeepConfig, description="How much of it stays on disk.")

    def load_game(self) -> Game:
        """The game that is learnt."""
        return load_game(self.game, **self.params)

    def learning(self, game: Game) -> AfterstateConfig | TupleConfig:
        """The afterstate recipe's settings, with what suits the game where nothing is said."""
        given = dict(self.afterstate)
        net = given.pop("net", {})
        if not isinstance(net, Mapping):
            raise ConfigError(f"afterstate.net is {net!r}, expected settings of a network, e.g. hidden: [64, 64]")
        for name in RUN_LEVEL:
            if name in given:
                raise ConfigError(f"afterstate.{name} is {given[name]!r}, expected {name} at the top of the file")
        with fields_below("afterstate"):
            return make_config(game, {**given, "seed": self.seed, "rounds": self.rounds or 1}, net)

    def check(self) -> Game:
        """Refuse what does not go together; the game."""
        game = self.load_game()
        self._check_play()
        with fields_below("gate"):
            self.gate.hypotheses(game)
        if self.gate.seed_set is not None:
            try:
                gate_seeds(self.gate, self.seed, 1)
            except ConfigError as error:
                raise ConfigError(f"gate.seed_set: {error}") from None
        against = self.evaluate.against
        for word in against or ():
            if word not in NAMES:
                raise ConfigError(f"evaluate.against has {word!r}, {nearest(word, NAMES)}")
        if against is not None and len(set(against)) != len(against):
            raise ConfigError(f"evaluate.against is {list(against)}, expected each opponent once")
        if self.evaluate.final_pairs == 1:
            raise ConfigError("evaluate.final_pairs is 1, expected at least 2, or 0 for none")
        if self.recipe == "alphazero":
            for name in ("rounds", "minutes", "afterstate"):
                if getattr(self, name):
                    raise ConfigError(f"{name} is {getattr(self, name)!r}, expected none with recipe alphazero")
            if self.alphazero.train.seed:
                raise ConfigError(
                    f"alphazero.train.seed is {self.alphazero.train.seed}, expected seed at the top of the file"
                )
            with fields_below("alphazero.selfplay"):
                self.alphazero.selfplay.full_simulations(game)
            if self.evaluate.final_games:
                games = self.evaluate.final_games
                raise ConfigError(f"evaluate.final_games is {games}, expected 0 with recipe alphazero")
        else:
            if (self.rounds is None) == (self.minutes is None):
                got = "neither" if self.rounds is None else "both"
                raise ConfigError(f"rounds and minutes: got {got}, expected one of them with recipe afterstate")
            if "alphazero" in self.model_fields_set:
                raise ConfigError("alphazero has settings, expected none with recipe afterstate")
            if self.rounds is not None and self.rounds < self.iterations:
                raise ConfigError(f"rounds is {self.rounds}, expected at least {self.iterations}, one an iteration")
            self.learning(game)
            if self.evaluate.final_games and not can_judge(game):
                games = self.evaluate.final_games
                raise ConfigError(f"evaluate.final_games is {games}, expected 0: nothing can judge {game!r} so fast")
        return game

    def _check_play(self) -> None:
        """Refuse settings of play that the recipe's networks do not have, before one is learnt."""
        given = dict(parse_spec(f"net:PATH,{self.play}", "play").settings) if self.play else {}
        searches = given.get("sims", 0 if self.recipe == "afterstate" else 1)
        inference = given.get("inference")
        if inference is not None and self.recipe == "afterstate":
            raise ConfigError(f"play: inference is {inference!r}, expected none: a value network computes itself")
        if inference not in (None, "onnxruntime", "torch"):
            raise ConfigError(f"play: inference is {inference!r}, expected onnxruntime or torch")
        if self.recipe == "alphazero" and "prior_temperature" in given:
            raise ConfigError("play has prior_temperature, expected none: networks of recipe alphazero have priors")
        for name in ("chance", "c", "prior_temperature"):
            if name in given and not searches:
                raise ConfigError(f"play has {name}, which is of a search, expected sims=N beside it")
        if searches:
            with fields_named({"num_simulations": "play: sims", "c": "play: c"}):
                SearchConfig(num_simulations=searches, c=given.get("c", 1.0))


def schema() -> dict[str, Any]:
    """The JSON schema of a file of settings."""
    found = RunConfig.model_json_schema()
    recipes = []
    for config in (AfterstateConfig, TupleConfig):
        recipe = config.model_json_schema(ref_template="#/$defs/{model}")
        found["$defs"].update(recipe.pop("$defs", {}))
        for name in RUN_LEVEL:
            del recipe["properties"][name]
        recipes.append(recipe)
    del found["$defs"]["TrainConfig"]["properties"]["seed"]
    described = found["properties"]["afterstate"]["description"]
    found["properties"]["afterstate"] = {"anyOf": recipes, "description": described}
    return found
