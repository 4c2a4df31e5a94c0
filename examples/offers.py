"""Offers: sell houses one after another. Each gets a few offers, the sum of two dice: accept, or wait for the next.

The last offer for a house must be accepted. The return is the sum of all prices. The game is too large to be solved
quickly, but a short formula gives its exact values. The formula, a player and fixed positions are in `kit` at the end
of the file. Try `aleazero evaluate strength examples/offers.py patient:least=9`.
"""

import numpy as np

from aleazero import CHANCE, DECISION, TERMINAL, ConfigError, GameError, GameInfo, GameKit, PositionError

HOUSES, OFFERS = 20, 5  # parameters

# The state vector: houses left, offers to come for this one, the offer on the table, the kind, the sum of prices.
LEFT, TO_COME, OFFER, KIND, SUM = 0, 1, 2, 3, 4
WAIT, ACCEPT = 0, 1
LOWEST, HIGHEST = 2, 12


def describe(houses: int = 20, offers: int = 5) -> GameInfo:
    """Name and sizes of the game."""
    if not 1 <= houses <= 1000 or not 1 <= offers <= 100:
        raise GameError(f"offers: got {houses} houses and {offers} offers, expected 1 to 1000 and 1 to 100")
    return GameInfo(
        name="offers",
        num_players=1,
        num_actions=2,
        max_outcomes=HIGHEST - LOWEST + 1,
        utility=(float(LOWEST * houses), float(HIGHEST * houses)),
        state_size=5,
        state_dtype="int16",
        constants={"HOUSES": houses, "OFFERS": offers},
    )


def init(state):
    state[LEFT] = HOUSES
    state[TO_COME] = OFFERS
    state[KIND] = CHANCE


def kind(state):
    return state[KIND]


def to_play(state):
    return 0


def turn(state):
    """A turn is the sale of a house."""
    return state[LEFT]


def legal(state, out):
    if state[TO_COME] == 0:
        out[0] = ACCEPT
        return 1
    out[0] = WAIT
    out[1] = ACCEPT
    return 2


def apply(state, action):
    if action == ACCEPT:
        state[SUM] += state[OFFER]
        state[LEFT] -= 1
        state[TO_COME] = OFFERS
    state[OFFER] = 0
    state[KIND] = TERMINAL if state[LEFT] == 0 else CHANCE


def outcomes(state, ids, probabilities):
    """The sum of two dice."""
    for i in range(HIGHEST - LOWEST + 1):
        ids[i] = LOWEST + i
        probabilities[i] = (6 - abs(i - 5)) / 36.0
    return HIGHEST - LOWEST + 1


def apply_outcome(state, outcome):
    state[OFFER] = outcome
    state[TO_COME] -= 1
    state[KIND] = DECISION


def returns(state, out):
    out[0] = state[SUM]


def action_text(state, action):
    return ("wait", "accept")[action]


def check(state):
    """Reject numbers that no play reaches."""
    left, to_come, offer, now, total = (int(number) for number in state)
    sold = HOUSES - left
    fits = 0 <= left <= HOUSES and 0 <= to_come <= OFFERS and LOWEST * sold <= total <= HIGHEST * sold
    if now == DECISION:
        fits = fits and left > 0 and LOWEST <= offer <= HIGHEST and to_come < OFFERS
    else:
        fits = fits and offer == 0 and now == (TERMINAL if left == 0 else CHANCE) and to_come > 0
    if not fits:
        raise PositionError(f"offers: got the numbers {state.tolist()}, which no play reaches")


# Optional: an oracle, a player and fixed positions of the game.


def kit(game):
    """An oracle, a player, fixed positions with their kinds, and explanations for the report. All are optional."""
    return GameKit(
        oracle=lambda: BestPrices(**game.params),
        players={"patient": make_patient},
        positions={"first": lambda: positions(game, game.params["houses"]), "last": lambda: positions(game, 1)},
        classify=lambda state: (f"{state.vector[TO_COME]} to come", f"{state.vector[LEFT]} left"),
        notes={"oracle": "Accepts an offer that is above the expected price of waiting."},
    )


class BestPrices:
    """The oracle. The expected price of waiting is computed backwards from the last offer."""

    def __init__(self, houses, offers):
        faces = np.arange(LOWEST, HIGHEST + 1)
        chances = (6 - abs(faces - 7)) / 36.0
        self.waiting = [0.0]  # expected price of one house under best play, by number of offers to come
        for _ in range(offers):
            self.waiting.append(float(chances @ np.maximum(faces, self.waiting[-1])))

    def values(self, state):
        """Return the expected final sum of each player."""
        if state.is_terminal():
            return np.array(state.returns())
        if state.is_chance_node():
            return np.array([self._rest(state.vector) + self.waiting[state.vector[TO_COME]]])
        return np.array([max(self.action_values(state).values())])

    def action_values(self, state):
        """Return the expected final sum after each legal action."""
        rest, offer, to_come = self._rest(state.vector), float(state.vector[OFFER]), int(state.vector[TO_COME])
        values = {WAIT: rest + self.waiting[to_come], ACCEPT: rest + offer}
        return {action: values[action] for action in state.legal_actions()}

    def _rest(self, vector):
        """Return the sum so far plus the expected prices of the houses after this one."""
        return float(vector[SUM]) + (int(vector[LEFT]) - 1) * self.waiting[-1]


def make_patient(game, settings):
    """Make the player `patient:least=N`, which accepts the first offer of at least N (default 8)."""
    least = settings.get("least", "8")
    if list(settings) not in ([], ["least"]) or not least.isdecimal():
        raise ConfigError(f"patient has {dict(settings)}, expected least=N")

    def select(state, seed):
        return ACCEPT if state.vector[OFFER] >= int(least) or state.vector[TO_COME] == 0 else WAIT

    return select


def positions(game, left):
    """Return all decisions about a house with offers to come, when this many houses are left."""
    prices = 7 * (game.params["houses"] - left)
    return [
        game.state_from_vector([left, to_come, offer, DECISION, prices])
        for to_come in range(1, game.params["offers"])
        for offer in range(LOWEST, HIGHEST + 1)
    ]
