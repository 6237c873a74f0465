"""The attackers of the panel in their obvious form: every candidate scored by dicts, one mention after the other."""

import math

import numpy as np

from recloak._mentions.panel_kernels import DAY, EDGES, N_BINS, N_STEPS, PANEL, WINDOWS

_SILENT = ("likelihood_ratio", "wary_likelihood", "knowing_likelihood")


def bin_of(lag):
    return sum(edge < lag for edge in EDGES.tolist())


def nearest(moments, time):
    """Return the time since the nearest moment, and since the last one before."""
    gap = min((time - one for one in moments), key=lambda d: (abs(d), d < 0))
    return gap, min((time - one for one in moments if one <= time), default=math.inf)


def half_ratio(inside, share):
    return 0.5 * math.log(0.9 / share if inside else 0.1 / (1 - share))


class NaivePanel:
    """Scores by name of the attacker, for everybody in the ratings."""

    def __init__(self, ratings, known, heavy=1 / 3):
        self.known, self.n = known, ratings.n_users
        span = ratings.scale.span or 1.0
        self.rated = []
        for user in range(self.n):
            row = ratings.row(user)
            times = [None] * (row.stop - row.start) if ratings.times is None else ratings.times[row].tolist()
            stars = ((ratings.values[row] - ratings.scale.low) / span * 4).astype(np.float32).tolist()
            self.rated.append(dict(zip(ratings.items[row].tolist(), zip(stars, times, strict=True), strict=True)))
        self.raters = ratings.popularity.tolist()
        self.mean = sum(map(len, self.rated)) / self.n
        self.heavy = [len(one) > heavy * ratings.n_items for one in self.rated]
        popular = sorted(range(ratings.n_items), key=lambda item: -self.raters[item])
        n_rated = sum(count > 0 for count in self.raters)
        self.ignored = [set(popular[: math.ceil(share * n_rated)]) for share in (0.01, 0.02)]
        most = min(max(math.ceil(0.2 * n_rated), len(self.ignored[1]) + 40), n_rated)
        self.ignored += [set(popular[:most]), set(popular[: (len(self.ignored[1]) + most) // 2])]

    def idf(self, item):
        return math.log2(self.n / self.raters[item]) if self.raters[item] else 0.0

    def scores(self, user, said):
        """Return a candidate's scores for (item, time, opinion) mentions."""
        total = dict.fromkeys(PANEL, 0.0)
        for item, time, opinion in said:
            for name, value in self.of_mention(user, item, time, opinion).items():
                total[name] += value
        days: dict[int, int] = {}
        for _, time, _ in sorted(said, key=lambda one: -math.inf if one[1] is None else one[1]):
            if time is not None:
                days.setdefault(time // DAY, time)
        for time in sorted(days.values())[-16:]:
            for name, value in self.of_moment(user, time).items():
                total[name] += value
        ratio, opinion, w = total["likelihood_ratio"], total["opinion"], self.known.learned
        total["learned"] = (
            w[0] * ratio
            + w[1] * (opinion - ratio)
            + w[2] * (total["same_item"] - opinion)
            + w[3] * (total["active"] - opinion)
        )
        return total

    def of_mention(self, user, item, time, opinion):
        rate = -math.log(1 - max(self.raters[item], 1) / (self.n + 1))
        appetite = len(self.rated[user]) / self.mean
        names = PANEL[PANEL.index("likelihood_ratio") : -1]
        added = dict.fromkeys(names, rate * appetite)
        deaf = {"knowing_likelihood", "knowing_time"} if item in self.ignored[2] else set()
        deaf |= {"knowing_half"} if item in self.ignored[3] else set()
        added |= dict.fromkeys(deaf, 0.0)
        if item not in self.rated[user]:
            return added
        value, when = self.rated[user][item]
        gain = math.log(1 - (max(self.raters[item], 1) - 1) / self.n) - math.log(0.05)
        apart = 0.0 if opinion is None else abs(value - opinion)
        added |= {"scoring": gain, "tf_idf": self.idf(item) ** 2 / self.norm(user)}
        added |= {"adaptive": gain * (item not in self.ignored[0]), "adaptive_2": gain * (item not in self.ignored[1])}
        added |= {"fuzzy_rating": gain * (apart <= 1 + 1e-6), "exact_rating": gain * (apart <= 1e-6)}
        chance = math.log(math.expm1(rate * appetite))
        for name in names:
            if name in deaf:
                continue
            added[name] += (0.0 if name == "wary_likelihood" else self.known.logit) - chance
            if opinion is not None and name not in _SILENT:
                added[name] += self.known.opinion[min(int(2 * apart + 0.5), N_STEPS - 1)]
        if time is not None and when is not None:
            added["same_item"] += self.known.same_item[bin_of(time - when)]
            added["time"] += self.known.same_item[bin_of(time - when)]
            for name in {"knowing_time", "knowing_half"} - deaf:
                added[name] += self.known.same_item[bin_of(time - when)]
            for name, window in self.windows():
                added[name] += half_ratio(-DAY <= time - when <= window, self.share(item, time, window))
        return added

    @staticmethod
    def windows():
        return zip(("time_month", "time_year", "time_ever"), WINDOWS.tolist(), strict=True)

    def share(self, item, time, window):
        theirs = [one[item][1] for one in self.rated if item in one]
        return (0.5 + sum(-DAY <= time - when <= window for when in theirs)) / (len(theirs) + 1)

    def norm(self, user):
        return math.sqrt(sum(self.idf(item) ** 2 for item in self.rated[user])) or 1.0

    def of_moment(self, user, time):
        if any(when is None for one in self.rated for _, when in one.values()):
            return {}
        bins, inside = [], []
        for one in self.rated:
            gap, since = nearest([when for _, when in one.values()], time)
            bins.append(bin_of(gap))
            inside.append([since <= window or -DAY <= gap <= 0 for window in WINDOWS.tolist()])
        share = (1 / N_BINS + bins.count(bins[user])) / (self.n + 1)
        term = self.known.active[bins[user]] - math.log(share)
        added = {"active": term, "time": term, "knowing_time": term, "knowing_half": term}
        for w, (name, _) in enumerate(self.windows()):
            by_window = (0.5 + sum(flags[w] for flags in inside)) / (self.n + 1)
            added[name] = half_ratio(inside[user][w], by_window)
        return added
