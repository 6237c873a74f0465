"""A folder of small files, as the examples of the library name them."""

import numpy as np
import polars as pl


def small_ratings(first_user=0):
    rng = np.random.default_rng(5)
    table = pl.DataFrame(
        {
            "user": rng.integers(0, 40, 400) + first_user,
            "item": rng.integers(0, 6, 400),
            "rating": rng.integers(1, 6, 400),
            "time": np.arange(400),
        }
    )
    return table.unique(["user", "item"], keep="first", maintain_order=True)


def write_world(ratings):
    ratings.write_csv("ratings.csv")
    users = ratings["user"].unique().sort()[:8]
    ratings.filter(pl.col("user").is_in(users.implode())).select("user", "item").write_csv("mentions.csv")
    titles = ["Matrix, The (1999)", "Fargo (1996)", "Heat (1995)", "Alien (1979)", "Brazil (1985)"]
    pl.DataFrame({"movieId": range(1, 6), "title": titles}).write_csv("movies.csv")
    texts = ["I loved The Matrix (1999)", "Alien (1979) and Fargo (1996) are great", ""]
    pl.DataFrame({"user": users[:3], "text": texts}).write_csv("posts.csv")
