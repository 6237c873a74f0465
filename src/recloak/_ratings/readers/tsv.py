"""Fields between tabs, where the first lines may look like something else."""

from recloak._ratings.reader import Reader

READER = Reader(
    name="tsv",
    title="TSV",
    text="fields between tabs, with or without a header; only by its name, for `csv` recognises tabs as well",
    matches=lambda _: False,
    dialect="\t",
)
