"""Draw the pictures of games from real states: ``.venv/bin/python docs/scripts/pictures.py`` (about a minute)."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Circle, FancyBboxPatch, Polygon, Rectangle

import aleazero
from aleazero.games import azul
from aleazero.games.backgammon import to_position

IMAGES = Path(__file__).resolve().parents[1] / "images"
INK, FAINT, BLUE, ORANGE, GREEN = "#22272e", "#c9ced6", "#1565c0", "#e07b00", "#2e9d63"
YATZY = (
    "open sixes four_kind house upper 45 total 161 / open fives large_straight yatzy upper 48 total 172 / "
    "player 0 dice 33566 rerolls 1"
)
PIPS = {
    1: [(0, 0)],
    2: [(-1, 1), (1, -1)],
    3: [(-1, 1), (0, 0), (1, -1)],
    4: [(-1, -1), (-1, 1), (1, -1), (1, 1)],
    5: [(-1, -1), (-1, 1), (0, 0), (1, -1), (1, 1)],
    6: [(-1, -1), (-1, 0), (-1, 1), (1, -1), (1, 0), (1, 1)],
}
TILES = {0: "#cdc1b4", 2: "#eee4da", 4: "#ede0c8", 8: "#f2b179", 16: "#f59563", 32: "#f67c5f", 64: "#f65e3b"}
AZUL = (
    "draft round 5 drafts 43 player 1 next - bag - lid b7y9r10k9w11 centre b2yrw3 factories - - - yrkw k3w / 20 wall "
    "b.rkw,w.yrk,k.byr,.....,..... lines y1,b2,-,b2,y3 floor - / 28 wall byrk.,wbyr.,k....,r.wb.,y.... lines "
    "-,k2,b2,-,r2 floor -"
)
AZUL_TILES = ("#2f6fb5", "#e8b33a", "#c8423b", "#2b2b2b", "#bfe3e6")
TILE_TEXT = "#776e65"


def canvas(width: float, height: float) -> tuple[Any, Any, Any]:
    """Return a figure with a drawing area without axes on the left and a chart on the right."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(width, height), layout="constrained", width_ratios=(1, 1.15))
    left.set_axis_off()
    left.set_aspect("equal")
    return figure, left, right


def bars(axes: Any, names: list[str], values: list[float], labels: list[str], title: str) -> None:
    """Draw horizontal bars, the best first and highlighted."""
    places = np.arange(len(names))[::-1]
    colors = [BLUE if i == 0 else "#90b4dc" for i in range(len(names))]
    axes.barh(places, values, color=colors, height=0.62)
    axes.set_yticks(places, names, family="monospace")
    axes.set_xticks([])
    for side in ("top", "right", "bottom"):
        axes.spines[side].set_visible(False)
    for place, value, label in zip(places, values, labels, strict=True):
        axes.text(value, place, f" {label}", va="center")
    axes.set_title(title)


def die(axes: Any, x: float, y: float, face: int, color: str = "white") -> None:
    axes.add_patch(
        FancyBboxPatch((x - 0.36, y - 0.36), 0.72, 0.72, boxstyle="round,pad=0.06", fc=color, ec=INK, lw=1.2)
    )
    for dx, dy in PIPS[face]:
        axes.add_patch(Circle((x + 0.23 * dx, y + 0.23 * dy), 0.075, color=INK))


def draw_yatzy() -> None:
    """Draw a position of two-player Yatzy with the chances to win of the best actions."""
    command = [sys.executable, "-m", "aleazero", "analyse", "yatzy", "--position", YATZY, "--json"]
    found = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    chances = {row["name"]: row["win"] for row in rows_of(found)}
    best = sorted(chances, key=lambda name: -chances[name])[:6]
    figure, left, right = canvas(9.2, 3.5)
    for i, face in enumerate((3, 3, 5, 6, 6)):
        die(left, i, 3.1, face, "#d7e6f7" if f"{face}" in best[0] else "white")
    left.text(-0.4, 2.25, "player 0 to move, 1 reroll left", fontsize=9.5)
    left.text(
        -0.4, 1.3, "player 0: 161 points\nopen: sixes, four of a kind, house\nupper section: 45 of 63", va="center"
    )
    left.text(
        -0.4, 0.1, "player 1: 172 points\nopen: fives, large straight, yatzy\nupper section: 48 of 63", va="center"
    )
    left.set_xlim(-0.6, 4.6)
    left.set_ylim(-0.5, 3.7)
    values = [chances[name] for name in best]
    names = [name.replace("-", " ") for name in best]
    bars(right, names, values, [f"{value:.1%}" for value in values], "chance to win")
    right.set_xlim(0, 1.25 * max(values))
    save(figure, "analyse")


def rows_of(found: dict[str, Any]) -> list[dict[str, Any]]:
    """Return name and chance to win of each action in the JSON of ``aleazero analyse``."""
    wins = found["expected"]["win"]
    return [{"name": name, "win": win} for name, win in zip(found["action_names"], wins, strict=True)]


def draw_pig() -> None:
    """Draw the number of points at which optimal play holds, by both scores."""
    target = 50
    game = aleazero.load_game("pig", target=target)
    solution = aleazero.solve(game)
    holds = np.full((target, target), np.nan)
    for mine in (0, *range(2, target)):
        for theirs in (0, *range(2, target)):
            for turn in range(2, target - mine):
                if solution.best_actions(game.state_from_text(f"{mine}-{theirs} turn {turn}"))[-1] == 1:
                    holds[theirs, mine] = turn
                    break
            else:
                holds[theirs, mine] = target - mine
    figure, axes = plt.subplots(figsize=(6.2, 3.9), layout="constrained")
    image = axes.imshow(holds, origin="lower", cmap="viridis", aspect="auto")
    axes.set_xlabel("own score")
    axes.set_ylabel("opponent's score")
    axes.set_title(f"Pig to {target}: hold at this many points")
    figure.colorbar(image, ax=axes)
    save(figure, "game_pig")


def draw_2048() -> None:
    """Draw a board with the values of its moves, found by a search."""
    game = aleazero.load_game("2048")
    rows = ((2, 4, 8, 64), (4, 8, 16, 32), (2, 2, 8, 8), (0, 0, 2, 4))
    text = "/".join(" ".join(str(tile or ".") for tile in row) for row in rows)
    state = game.state_from_text(text)
    result = aleazero.Search(game, "rollout", aleazero.SearchConfig(num_simulations=20_000, seed=1)).run(state)
    figure, left, right = canvas(7.2, 3.4)
    for y, row in enumerate(rows):
        for x, tile in enumerate(row):
            box = FancyBboxPatch(
                (x - 0.42, 3 - y - 0.42), 0.84, 0.84, boxstyle="round,pad=0.03", fc=TILES[tile], ec="none"
            )
            left.add_patch(box)
            color = "white" if tile >= 8 else TILE_TEXT
            left.text(x, 3 - y, str(tile or ""), ha="center", va="center", weight="bold", color=color)
    left.set_xlim(-0.6, 3.6)
    left.set_ylim(-0.6, 3.6)
    order = np.argsort(-result.visits)
    names = [state.action_to_string(int(result.actions[i])) for i in order]
    shares = [float(result.policy[i]) for i in order]
    bars(right, names, shares, [f"{share:.0%}" for share in shares], "visits of 20,000 simulations")
    right.set_xlim(0, 1.2 * max(shares))
    save(figure, "game_2048")


def draw_backgammon() -> None:
    """Draw the start position with a roll."""
    state = aleazero.load_game("backgammon").state_from_text("4HPwATDgc/ABMA player 0 dice 3-1")
    figure, axes = plt.subplots(figsize=(5.6, 4.6), layout="constrained")
    axes.set_axis_off()
    axes.set_aspect("equal")
    for place, count in enumerate(to_position(state, 0)[0], 1):
        x, lower = board_column(place), place <= 12
        tip, base = (4.6, 0.0) if lower else (7.4, 12.0)
        color = "#d9c8a9" if place % 2 else "#b89468"
        axes.add_patch(Polygon([(x - 0.5, base), (x + 0.5, base), (x, tip)], color=color))
        for i in range(abs(count)):
            y = 0.5 + 0.95 * i if lower else 11.5 - 0.95 * i
            axes.add_patch(Circle((x, y), 0.45, fc="white" if count > 0 else INK, ec=INK, lw=0.8))
        axes.text(x, -0.7 if lower else 12.7, str(place), ha="center", va="center", fontsize=8)
    axes.add_patch(Rectangle((5.55, 0), 0.9, 12, color="#8a6a45"))
    axes.add_patch(Rectangle((-0.55, 0), 13.1, 12, fill=False, ec=INK, lw=1.2))
    for i, face in enumerate((3, 1)):
        die(axes, 8.5 + 1.1 * i, 6, face)
    axes.set_xlim(-0.8, 12.8)
    axes.set_ylim(-1.2, 13.2)
    save(figure, "game_backgammon")


def board_column(place: int) -> float:
    """Return the horizontal place of a point of player 0, with the home board on the right."""
    column = 12 - place if place <= 12 else place - 13
    return column + (column > 5)


def draw_azul() -> None:
    """Draw the factories, the centre and both boards of a position."""
    game = aleazero.load_game("azul")
    position = azul.to_position(game.state_from_text(AZUL))  # type: ignore[arg-type]
    figure, axes = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
    axes.set_axis_off()
    axes.set_aspect("equal")
    heaps = [(f"F{i + 1}", tiles) for i, tiles in enumerate(position["factories"])] + [("centre", position["centre"])]
    for i, (name, tiles) in enumerate(heaps):
        x, width = 4.6 * i, 4.0 if i < 5 else 5.5
        box = FancyBboxPatch((x, 14.2), width, 2.6, boxstyle="round,pad=0.1", fc="#f4f5f7", ec=FAINT)
        axes.add_patch(box)
        axes.text(x + width / 2, 17.3, name, ha="center", fontsize=9)
        for place, colour in enumerate(c for c in range(5) for _ in range(tiles[c])):
            across = 2 if i < 5 else 4
            tile(axes, x + 0.9 + 1.15 * (place % across), 15.6 - 1.15 * (place // across), colour)
    if position["marker"]:
        axes.text(27.8, 14.6, "1", ha="center", va="center", fontsize=9, weight="bold")
    for player, board in enumerate(position["boards"]):
        left = 15.0 * player
        mover = " (to move)" if player == position["to_move"] else ""
        axes.text(left, 11.9, f"player {player}: {board['score']} points{mover}", fontsize=10)
        for row in range(5):
            y = 10.0 - 1.2 * row
            colour, count = board["lines"][row]
            for place in range(row + 1):
                tile(axes, left + 1.2 * (4 - place), y, colour if place < count else None)
            for column in range(5):
                tile(axes, left + 6.8 + 1.2 * column, y, (column - row) % 5, board["wall"][row][column] == 0)
        for slot in range(7):
            held = board["floor"][slot] if slot < len(board["floor"]) else None
            tile(axes, left + 1.2 * slot, 3.2, held)
    axes.set_xlim(-0.5, 28.9)
    axes.set_ylim(2.6, 18.2)
    save(figure, "game_azul")


def tile(axes: Any, x: float, y: float, colour: int | None, empty: bool = False) -> None:
    """Draw a tile of a colour, an empty place (None), or an empty place of the wall, which shows its colour."""
    fill = "white" if colour is None else AZUL_TILES[colour]
    alpha = 0.18 if empty else 1.0
    axes.add_patch(Rectangle((x, y), 1.0, 1.0, fc=fill, ec="none", alpha=alpha))
    axes.add_patch(Rectangle((x, y), 1.0, 1.0, fill=False, ec=FAINT if empty or colour is None else INK, lw=0.7))


def draw_dice_game() -> None:
    """Draw the exact values of rolling and stopping by score."""
    game = aleazero.load_game("dice_game")
    solution = aleazero.solve(game)
    scores = range(20)
    values = [solution.action_values(game.state_from_text(str(score))) for score in scores]
    figure, axes = plt.subplots(figsize=(6.2, 3.4), layout="constrained")
    for action, name, color in ((0, "roll", BLUE), (1, "stop", ORANGE)):
        axes.plot(scores, [float(value[action][0]) for value in values], color=color, marker="o", ms=4, label=name)
    axes.set_xlabel("score")
    axes.set_ylabel("exact value (points)")
    axes.set_xticks(range(0, 20, 5))
    axes.set_title("Dice game: rolling is always better")
    axes.legend()
    axes.grid(alpha=0.3)
    save(figure, "game_dice_game")


def draw_tic_tac_toe() -> None:
    """Draw a board with the exact values of the moves."""
    game = aleazero.load_game("tic_tac_toe")
    state = game.state_from_text("x.o/.x./..o")
    solution = aleazero.solve(game)
    figure, axes = plt.subplots(figsize=(3.6, 3.6), layout="constrained")
    axes.set_axis_off()
    axes.set_aspect("equal")
    for line in (1, 2):
        axes.plot([line, line], [0, 3], color=INK, lw=2)
        axes.plot([0, 3], [line, line], color=INK, lw=2)
    values = solution.action_values(state)
    for cell, mark in enumerate("x.o.x...o"):
        x, y = cell % 3 + 0.5, 2.5 - cell // 3
        if mark != ".":
            axes.text(x, y, mark, fontsize=40, ha="center", va="center", color=BLUE if mark == "x" else ORANGE)
        else:
            value = float(values[cell][0])
            name = {1.0: "wins", 0.0: "draws", -1.0: "loses"}[value]
            axes.text(x, y, name, ha="center", va="center", color=GREEN if value == 1 else "#8d99a6", fontsize=12)
    axes.set_title("x to move")
    save(figure, "game_tic_tac_toe")


def save(figure: Any, name: str) -> None:
    figure.savefig(IMAGES / f"{name}.png", dpi=160, facecolor="white")
    plt.close(figure)


def main() -> None:
    """Draw all pictures."""
    plt.rcParams.update({
        "font.size": 10, "axes.titlesize": 11, "axes.titleweight": "bold", "axes.titlelocation": "left",
        "axes.spines.top": False, "axes.spines.right": False, "text.color": INK, "axes.labelcolor": INK,
    })  # fmt: skip
    for draw in (draw_yatzy, draw_pig, draw_2048, draw_backgammon, draw_azul, draw_dice_game, draw_tic_tac_toe):
        draw()


if __name__ == "__main__":
    main()
