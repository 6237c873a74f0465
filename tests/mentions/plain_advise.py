"""The advisor in its plain form: every variant of a draft is scored from the first mention to the last, by dicts."""

import math

from recloak._mentions.draft_question import make_question
from recloak._mentions.draft_search import ADDS, EXACT_MARGIN, TIMELESS, Way
from recloak._mentions.model import NO_TIME
from recloak._mentions.panel import members
from tests.mentions.naive_panel import NaivePanel

HEAVY_BLIND = ("scoring", "adaptive", "adaptive_2", "fuzzy_rating", "exact_rating")


class PlainQuestion:
    """One question, answered without any of the loops."""

    def __init__(self, index, user, earlier, draft, time=None):
        self.index, self.panel = index, NaivePanel(index.ratings, index.known)
        self.asked = make_question(index, user, earlier, draft, time)
        self.user = self.asked.user
        self.earlier, self.draft, self.decoys = (
            self.said(part) for part in (self.asked.earlier, self.asked.draft, self.asked.decoys)
        )
        timed = index.ratings.times is not None
        spoken = [*self.earlier, *self.draft]
        uses: tuple[str, ...] = ("titles",)
        uses += ("opinions",) if any(o is not None for _, _, o in spoken) else ()
        uses += ("times",) if timed and any(t is not None for _, t, _ in spoken) else ()
        self.uses, self.attackers = uses, members(uses)
        rated = index.ratings.items[index.ratings.row(self.user)].tolist()
        told = self.asked.evidence(index, self.asked.draft)
        self.rated = set(rated)
        self.order = sorted(
            range(len(self.draft)), key=lambda n: (told[n], -int(index.raters[self.asked.draft.items[n]]))
        )

    @staticmethod
    def said(spoken):
        rows = zip(spoken.items.tolist(), spoken.times.tolist(), spoken.opinions.tolist(), strict=True)
        return [(i, None if t == NO_TIME else t, None if math.isnan(o) else o) for i, t, o in rows]

    def place(self, said, attackers=None):
        """Return those above and half of those tied, before the worst attacker."""
        scores = [self.panel.scores(user, said) for user in range(self.panel.n)]
        worst = math.inf
        for name in attackers or self.attackers:
            better, tied = 0, 1
            for user in range(self.panel.n):
                if user == self.user or (name in HEAVY_BLIND and self.panel.heavy[user]):
                    continue
                gap = scores[self.user][name] - scores[user][name]
                better += gap < -1e-4
                tied += abs(gap) <= 1e-4
            margin = EXACT_MARGIN if "times" in self.uses and name not in TIMELESS else 1.0
            worst = min(worst, (better + (tied + 1) / 2) / margin)
        return worst

    def changed(self, said, way):
        return [(i, t, None if way.strip else o) for i, t, o in said]

    def keep(self, way, border, attackers=None):
        """Return which positions of the draft may stay, or None if what is said anyway does not hide."""
        draft = self.changed(self.draft, way)
        fixed = [*self.earlier, *self.decoys[: way.n_adds]]
        if self.place(fixed, attackers) <= border:
            return None
        kept: list[int] = []
        for _ in range(2):
            for n in self.order:
                if n not in kept and self.place([*fixed, *(draft[m] for m in kept), draft[n]], attackers) > border:
                    kept.append(n)
        return kept


def plain(index, user, earlier, draft, *, k=10, time=None):
    """Return the places before and after, without each mention, and what each way to change keeps."""
    asked = PlainQuestion(index, user, earlier, draft, time)
    everything = [*asked.earlier, *asked.draft]
    without = [
        asked.place([one for m, one in enumerate(everything) if m != n + len(asked.earlier)])
        for n in range(len(asked.draft))
    ]
    ways = [Way(strip, n) for strip in (False, True) for n in ADDS[:2]]
    return {
        "before": asked.place(asked.earlier),
        "after": asked.place(everything),
        "without": without,
        "kept": {way: asked.keep(way, k) for way in ways},
    }
