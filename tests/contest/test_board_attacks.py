"""The board is no oracle: attacks that read hidden ratings off exact scores, and what they reach by the rules."""

import numpy as np
import pytest
from tests.contest.board_attacks import many_cells, one_cell, random_designs

from recloak._contest.model import Rules, Score
from recloak._contest.telling import noisy_score, telling_of

LEVELS = np.arange(1.0, 6.0)
N, SUBMISSIONS = 6000, 100


class Game:
    """Hidden ratings, a good model's predictions of them, and oracles that tell scores."""

    def __init__(self, seed: int) -> None:
        self.draw = np.random.default_rng(seed)
        taste = 3.6 + self.draw.normal(0, 0.65, N)
        self.truth = np.clip(np.rint(taste + self.draw.normal(0, 0.9, N)), 1, 5)
        self.start = np.clip(taste, 1, 5)
        self.is_board = self.draw.random(N) < 0.5
        self.rules = Rules(1.0, 5.0, N, SUBMISSIONS, 5, self.draw.bytes(32).hex())
        self.n_told = 0

    def prior(self, targets):
        """Return the chances of each rating given the rounded prediction, which the attacker knows from public data."""
        near = np.rint(self.start).astype(int)
        counts = np.ones((5, 5))
        np.add.at(counts, (near - 1, self.truth.astype(int) - 1), 1)
        return (counts / counts.sum(axis=1, keepdims=True))[near[targets] - 1]

    def exact(self, x):
        self.n_told += 1
        return float(np.sqrt(np.mean((x - self.truth) ** 2)))

    def rounded(self, x):
        return round(self.exact(x), 4)

    def by_the_rules(self, x):
        """Tell a score as the board tells it to a team that has none yet: colluding teams get it every time."""
        self.n_told += 1
        x = np.clip(x, 1, 5)
        off = (x - self.truth)[self.is_board]
        return noisy_score(Score(float(np.sqrt(np.mean(off**2))), 0.0, None, 1.0, len(off)), x, self.rules)


def by_designs(game, oracle, targets, noise, share=1.0):
    n = N if share == 1.0 else int(game.is_board.sum())
    return random_designs(
        oracle, game.start, targets, LEVELS, game.prior(targets), n,
        n_submissions=SUBMISSIONS, noise=noise, share=share, draw=game.draw,
    )  # fmt: skip


def test_two_exact_scores_that_differ_in_one_cell_show_its_rating():
    game = Game(1)
    targets = game.draw.choice(N, SUBMISSIONS - 1, replace=False)
    found = one_cell(game.exact, game.start, targets, LEVELS, N)
    assert game.n_told == SUBMISSIONS
    assert (found == game.truth[targets]).all()


def test_one_exact_score_shows_eight_ratings_at_once():
    game = Game(2)
    targets = game.draw.choice(N, 8 * (SUBMISSIONS - 1), replace=False)
    found = many_cells(game.exact, game.start, targets, LEVELS, N)
    assert game.n_told == SUBMISSIONS
    assert (found == game.truth[targets]).mean() > 0.99


def test_rounding_to_four_places_alone_is_no_defence():
    game = Game(3)
    targets = game.draw.choice(N, 90, replace=False)
    prior = (LEVELS[game.prior(targets).argmax(axis=1)] == game.truth[targets]).mean()
    found = by_designs(game, game.rounded, targets, noise=1e-4 * N * 2 * 0.9 / np.sqrt(12))
    assert (found == game.truth[targets]).mean() > prior + 0.3


def gains(attack, n_targets, n_games=30):
    """Return how much more often than by the prior ratings were guessed, over several games."""
    right, guessed = [], []
    for seed in range(n_games):
        game = Game(100 + seed)
        targets = game.draw.choice(N, n_targets, replace=False)
        found = attack(game, targets)
        assert game.n_told <= SUBMISSIONS
        right.append(found == game.truth[targets])
        guessed.append(LEVELS[game.prior(targets).argmax(axis=1)] == game.truth[targets])
    return np.mean(right) - np.mean(guessed)


@pytest.mark.parametrize(("n_targets", "n_games", "chance"), [(20, 40, 0.02), (90, 20, 0.01)])
def test_by_the_rules_all_submissions_together_gain_at_most_two_points(n_targets, n_games, chance):
    def attack(game, targets):
        n = int(game.is_board.sum())
        noise = telling_of(game.rules, n, 0.9).sigma * n
        return by_designs(game, game.by_the_rules, targets, noise, share=0.5)

    assert gains(attack, n_targets, n_games) <= 0.02 + chance


def test_noise_is_weighed_and_not_only_feared():
    """Where noise halves what is seen of a rating, the attack still tells the ends of the scale apart."""
    right = []
    for seed in (1, 2, 3):
        game = Game(seed)
        targets = game.draw.choice(N, 20, replace=False)
        game.truth[targets] = game.draw.choice([1.0, 5.0], 20)
        noise = np.random.default_rng(seed + 1)

        def oracle(x, game=game, noise=noise):
            return float(np.sqrt(np.mean((x - game.truth) ** 2) + noise.normal(0, 60) / N))

        flat = np.full((20, 5), 0.2)
        found = random_designs(
            oracle, game.start, targets, LEVELS, flat, N, n_submissions=SUBMISSIONS, noise=60, share=1.0, draw=game.draw
        )
        right.append(np.mean(found == game.truth[targets]))
    assert np.mean(right) >= 0.5  # without undoing the shrinkage it finds none


def test_by_the_rules_differences_of_single_cells_are_noise():
    def attack(game, targets):
        return one_cell(game.by_the_rules, game.start, targets, LEVELS, N // 2)

    assert gains(attack, SUBMISSIONS - 1, n_games=10) < 0


def test_likes_and_dislikes_are_told_with_noise_for_steps_of_their_own():
    """On a scale of two values a fourth of the span tells them apart, so that the noise follows the step."""
    likes, right, guessed = np.array([0.0, 1.0]), [], []
    for seed in range(60):
        draw = np.random.default_rng(seed)
        chance = np.clip(0.7 + draw.normal(0, 0.2, N), 0.02, 0.98)
        truth, is_board = (draw.random(N) < chance).astype(float), draw.random(N) < 0.5
        rules = Rules(0.0, 1.0, N, SUBMISSIONS, 5, draw.bytes(32).hex(), step=1.0)

        def told(x, truth=truth, is_board=is_board, rules=rules):
            off = (np.clip(x, 0, 1) - truth)[is_board]
            return noisy_score(Score(float(np.sqrt(np.mean(off**2))), 0.0, None, 1.0, len(off)), x, rules)

        targets = draw.choice(np.flatnonzero(is_board), 10, replace=False)  # he knows which half they are in
        prior, n = np.column_stack((1 - chance, chance))[targets], int(is_board.sum())
        noise = telling_of(rules, n, 0.4).sigma * n
        found = random_designs(
            told, chance, targets, likes, prior, n, n_submissions=SUBMISSIONS, noise=noise, share=1.0, draw=draw
        )
        right.append(found == truth[targets])
        guessed.append((chance[targets] > 0.5) == truth[targets])
    assert np.mean(right) - np.mean(guessed) <= 0.02 + 0.015


def test_a_prediction_beyond_the_scale_shows_no_more_than_its_end():
    game = Game(4)
    far, end = game.start.copy(), game.start.copy()
    far[7], end[7] = 1e9, 5.0
    assert game.by_the_rules(far) == game.by_the_rules(end)


def test_sending_the_same_twice_tells_the_same():
    game = Game(5)
    assert game.by_the_rules(game.start) == game.by_the_rules(game.start.copy())


def test_more_submissions_mean_more_noise_and_more_ratings_less():
    few, many = (Rules(1.0, 5.0, N, n, 5, "00") for n in (100, 400))
    assert telling_of(many, 1000, 0.9).sigma == pytest.approx(2 * telling_of(few, 1000, 0.9).sigma)
    assert telling_of(few, 2000, 0.9).sigma == pytest.approx(telling_of(few, 1000, 0.9).sigma / 2)
