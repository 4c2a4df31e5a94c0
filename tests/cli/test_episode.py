from __future__ import annotations

import aleazero
from aleazero.cli.episode import Episode
from aleazero.native.random import HINTS, PLAYED_SEARCHES


def fresh(seed=5):
    return Episode(aleazero.load_game("pig").new_initial_state(), seed)


def test_played_luck_is_keyed_by_the_viewer_and_its_count():
    episode = fresh()
    counts = {0: 0, 1: 0}
    for _ in range(12):
        episode.act(0, None)
        viewer = episode.state.viewer()
        expected = aleazero.played_outcome(episode.state, 5, counts[viewer])
        counts[viewer] += 1
        assert episode.draw() == str(expected)
    assert episode.luck.counts == {player: count for player, count in counts.items() if count}
    assert len(counts) == 2
    assert all(counts.values())


def test_every_seat_has_a_seed_of_its_own_that_is_not_that_of_the_dice():
    pig = aleazero.load_game("pig")
    seeds = [5, 6]
    for seed in (5, 6):
        for text in ("10-20 turn 3 player 0", "10-20 turn 3 player 1"):
            episode = Episode(pig.state_from_text(text), seed)
            seeds += [episode.player_seed(PLAYED_SEARCHES), episode.player_seed(HINTS)]
    assert len(set(seeds)) == len(seeds)


def test_a_seats_seed_stays():
    episode = fresh()
    first = episode.player_seed(PLAYED_SEARCHES)
    episode.act(0, None)
    while episode.state.is_chance_node() or episode.state.current_player() != 0:
        episode.draw() if episode.state.is_chance_node() else episode.act(0, None)
    assert (episode.ply > 0, episode.player_seed(PLAYED_SEARCHES)) == (True, first)


def test_the_record_replays():
    episode = fresh()
    for _ in range(6):
        episode.act(0, None)
        episode.draw()
    again = aleazero.load_game("pig").state_from_text(episode.start)
    for step in episode.record:
        again.apply_action(again.string_to_action(step["name"]))
        assert again.to_text() == step["position"]
