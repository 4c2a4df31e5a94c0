"""Coins: a one-player game as a plain Python class. Flip for one more coin or keep the coins; tails loses all."""

from aleazero.games.scene import Button, Move, Piece, Scene


class Coins:
    """The game; its instances are states. Try ``aleazero check examples/coins.py:Coins``."""

    name = "coins"
    num_players = 1
    num_actions = 2
    max_outcomes = 2
    utility = (0.0, 5.0)

    def __init__(self, heads: float = 0.75, most: int = 5):
        self.heads = heads
        self.most = most
        self.coins = 1
        self.flipping = False
        self.over = False

    def current_player(self):
        return -4 if self.over else -1 if self.flipping else 0

    def legal_actions(self):
        return [0, 1]

    def chance_outcomes(self):
        return [(0, 1.0 - self.heads), (1, self.heads)]

    def apply_action(self, action):
        if self.flipping:
            self.flipping = False
            self.coins = self.coins + 1 if action else 0
            self.over = self.coins in (0, self.most)
        elif action == 0:
            self.flipping = True
        else:
            self.over = True

    def returns(self):
        return [float(self.coins)]

    def action_to_string(self, action):
        return ("tails", "heads")[action] if self.flipping else ("flip", "keep")[action]

    def draw(self):
        """The picture: a piece per coin, and a button per action."""
        choosing = self.current_player() == 0
        coins = [Piece(30 + 44 * i, 30, 20, "yellow", "1") for i in range(self.coins)]
        flip = Button(10, 64, 100, 40, "flip", choosing, part="flip", title="flip for one more coin", key="f")
        keep = Button(120, 64, 100, 40, "keep", choosing, part="keep", title="keep the coins", key="k")
        moves = [Move(0, ("flip",)), Move(1, ("keep",))] if choosing else []
        return Scene(max(230, 16 + 44 * self.most), 114, [*coins, flip, keep], moves, str(self))

    def __str__(self):
        return f"{self.coins} coins{' flipping' * self.flipping}{' over' * self.over}"
