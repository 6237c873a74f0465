"""Related-item lists ("people also liked"), published night after night so that no change in them gives anyone away.

`publish` adds a safe release to a `History`, `verify` proves every two releases that an observer can compare, `export`
returns what may be shown. `advise` and `simulate` say beforehand what a bound costs; `attack` measures what an observer
learns; `build` returns the true lists, which are not safe to publish.

    with recloak.related.History("lists.db") as history:
        recloak.related.publish(history, "ratings.csv", delta=0.1)
        assert recloak.related.verify(history, "ratings.csv").passed
        recloak.related.export(history, release="last").write("lists.parquet")

``related.pyi`` lists the names, which are imported when they are first used.
"""

from __future__ import annotations

from recloak._library.lazy_names import lazy_names

__all__, __getattr__, __dir__ = lazy_names(__file__)
