"""A match between two engines: `python examples/engine_match.py "pig(target=20)" --games 4 --first sims=500`.

Each side is a process of its own, so the sides can be different versions of AleaZero, or run on different machines with
`--second-command "ssh box aleazero engine"`. Each seed is played twice, with the seats swapped, and several games run
at once. The first engine is also the referee: it draws the dice and knows the rules.
"""

import argparse
import contextlib
import json
import shlex
import subprocess
import sys
import threading
from concurrent.futures import Future, ThreadPoolExecutor

ENGINE = f"{shlex.quote(sys.executable)} -m aleazero engine --workers 1"


class Engine:
    """An engine process. `ask` can be called from several threads."""

    def __init__(self, command: str) -> None:
        self.process = subprocess.Popen(
            shlex.split(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
        )
        self.answers: dict[str, Future[dict]] = {}
        self.lock = threading.Lock()
        self.sent = 0
        self.ended = False
        threading.Thread(target=self._read, daemon=True).start()

    def ask(self, **request: object) -> dict:
        """Send a request, wait for its answer and return the result."""
        answer: Future[dict] = Future()
        with self.lock:
            if self.ended:
                raise RuntimeError("an engine has ended")
            self.sent += 1
            name = f"r{self.sent}"
            self.answers[name] = answer
            with contextlib.suppress(BrokenPipeError):  # then the answer is an error, too
                print(json.dumps({"id": name, **request}), file=self.process.stdin, flush=True)
        return answer.result()

    def _read(self) -> None:
        """Give each final line to the request with its id."""
        try:
            for line in self.process.stdout:
                fields = json.loads(line)
                if fields["kind"] == "partial":
                    continue
                waiting = self.answers.pop(fields.get("id"), None)
                if waiting is not None and fields["kind"] == "result":
                    waiting.set_result(fields["result"])
                elif waiting is not None:
                    waiting.set_exception(RuntimeError(fields.get("message", fields["kind"])))
        except (ValueError, KeyError, TypeError):
            print("error: a line of an engine is not an answer", file=sys.stderr)
        with self.lock:
            self.ended = True
            for waiting in self.answers.values():
                waiting.set_exception(RuntimeError("an engine has ended"))

    def close(self) -> None:
        """End the input; the engine then exits."""
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        self.process.wait()


def play_game(referee: Engine, sides: list, game: str, seed: int) -> list[float]:
    """Play one game and return the returns by seat; `sides` are an engine and its settings for each seat."""
    moves: list[int] = []
    while True:
        at = referee.ask(request="apply", game=game, moves=moves, draw=True, seed=seed)
        moves = [step["action"] for step in at["applied"]]
        if at["kind"] == "terminal":
            return at["returns"]
        engine, settings = sides[at["player"]]
        found = engine.ask(request="analyse", game=game, position=at["position"], seed=len(moves), **settings)
        moves.append(found["best_action"])


def play_match(first: tuple, second: tuple, game: str, games: int, at_once: int) -> list[float]:
    """Return the return of the first side in each game."""

    def play(number: int) -> float:
        swapped = number % 2
        sides = [second, first] if swapped else [first, second]
        return play_game(first[0], sides, game, seed=number // 2)[swapped]

    with ThreadPoolExecutor(at_once) as threads:
        return list(threads.map(play, range(games)))


def settings(text: str) -> dict:
    """Read `sims=500,evaluator=rollout`, the fields of the requests of one side."""
    pairs = dict(pair.split("=", 1) for pair in text.split(",") if pair)
    return {name: int(value) if value.isdecimal() else value for name, value in pairs.items()}


def main() -> None:
    options = argparse.ArgumentParser(description="Play a match between two engines.")
    options.add_argument("game", help="a game for two players, e.g. pig")
    options.add_argument("--games", type=int, default=20)
    options.add_argument("--at-once", type=int, default=4, help="games that are played at once")
    options.add_argument("--first", type=settings, default="sims=1000", help="fields of the first side's requests")
    options.add_argument("--second", type=settings, default="sims=50", help="fields of the second side's requests")
    options.add_argument("--first-command", default=ENGINE)
    options.add_argument("--second-command", default=ENGINE)
    given = options.parse_args()
    try:
        engines = Engine(given.first_command), Engine(given.second_command)
    except OSError as error:
        sys.exit(f"error: {error}")
    try:
        sides = (engines[0], given.first), (engines[1], given.second)
        found = play_match(*sides, given.game, given.games, given.at_once)
    except RuntimeError as error:
        sys.exit(f"error: {error}")
    finally:
        for engine in engines:
            engine.close()
    wins, losses = sum(value > 0 for value in found), sum(value < 0 for value in found)
    print(f"{len(found)} games: {wins} won, {losses} lost, mean return {sum(found) / len(found):+.3f}")


if __name__ == "__main__":
    main()
