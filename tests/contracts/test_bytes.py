"""The same seed gives the same bytes, whatever is renamed or moved inside.

Every case runs a few commands in a folder of its own and takes the SHA-256 of all that they print as JSON and of every
file that they leave: tables, data cards, manifests, who-is-who, stored histories. What it must be stands in
``tests/golden/bytes/hashes.json``. Only the command line is used, so nothing here knows how the package is arranged.

Left out is what may change without harm: pages (``.html``), fields that tell how long something took or that JSON
has gained since, and the absolute
folder in a release's private account; and ``audit --again``, whose second release takes a seed of the system's choice.
A history's tables are taken row by row in the order of their keys, for the bytes of a database file tell more than its
content.

A change that is meant to give other bytes writes the hashes anew, of the cases that it runs, and says why in its
commit::

    RECLOAK_WRITE_HASHES=1 pytest tests/contracts/test_bytes.py -m ""

without ``-n``, for each process would write over the others; where ``CI`` is set it is refused. Tables, and the last
digits of numbers, also depend on the libraries: a failure names those that are not the ones the hashes were made with.
Compiled code and the library of linear algebra are made for the processor they run on, so the last digits of *measured
numbers* can differ on another one: there such a case is skipped with that reason. A release, a verdict or a store that
differs fails everywhere. An audit is also skipped under another version of numpy, as Python 3.12 and later have it, for
its fits use linear algebra.
"""

import functools
import gzip
import hashlib
import io
import json
import os
import re
import shlex
import sqlite3
from collections.abc import Collection, Iterator
from contextlib import chdir, closing, redirect_stdout
from importlib.metadata import PackageNotFoundError, version
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

import llvmlite.binding
import polars as pl
import pytest

HASHES = Path(__file__).parents[1] / "golden" / "bytes" / "hashes.json"
WRITE = "RECLOAK_WRITE_HASHES"
LIBRARIES = ("numba", "numpy", "polars", "pyarrow", "pyspark", "scipy", "zstandard")

MEASURED = (  # what is measured with linear algebra; releases, verdicts and stores are the same on every processor
    *(f"output of {command} " for command in ("audit", "evaluate", "frontier", "mentions", "related attack")),
    "output of related advise ",
    "file out-private/worst-off.csv",
    "file page.html.points.json",
)

TIMING = re.compile(rb'^ *"(?:(?:cpu_)?seconds(?:_all)?|posts_per_second)": .*\n', re.MULTILINE)
ADDED = re.compile(
    rb'^ *"(?:criterion|values|source_sha256)": .*\n', re.MULTILINE
)  # what JSON has gained since the hashes were made
TIMING_WITHIN = re.compile(rb', "seconds(?:_all)?": [^,}]+')
FOLDER = re.compile(rb'^ *"folder": .*\n', re.MULTILINE)

POSTS = """\
just watched Se7en (1995)... what's in the box
The Godfather is better than "Heat" and I said so, but Casablanca (1942) beats both
up all night with alien and then Aliens, my favourite is still Blade Runner
nothing to see here; it was a heat wave
"""
TITLES = """\
id,title
1,Seven (a.k.a. Se7en) (1995)
2,"Godfather, The (1972)"
3,Heat (1995)
4,Casablanca (1942)
5,Alien (1979)
6,Aliens (1986)
7,Blade Runner (1982)
8,Up (2009)
"""


def run(arguments: list[str]) -> int:
    """Run the command line in this process: the one place that knows where it lies."""
    from recloak._cli.main import run as run_command_line

    return run_command_line(arguments)


def publishing(*flags: str, source: str = "ratings.csv", seed: int = 1) -> str:
    return f"publish {source} -o out --seed {seed} {' '.join(flags)} --json"


SMALL = "--preset tiny --users 120 --items 40 --ratings 1800 --seed 1"
RELEASES = {
    f"release {mode} {layout} {form} {seed}": [
        publishing(f"--mode {mode} --layout {layout} --format {form}", seed=seed)
    ]
    for seed, mode, layout, form in product((1, 7), ("pure", "padded"), ("long", "grouped"), ("parquet", "csv"))
}
VARIANTS = {
    f"release {name}": [publishing(flags), "verify out --original ratings.csv --json"]
    for name, flags in {
        "defaults": "",
        "labels of raters": "--labels raters",
        "decoys": "--mode pure --min-shown 2 --decoys 1",
        "paper padded": "--paper",
        "paper pure": "--paper --mode pure",
        "diversity": "--mode pure --diversity 1,2",
        "diversity of all": "--mode pure --k 3 --diversity all,3",
        "max link": "--mode pure --max-link 0.8",
        "bias": "--predictor bias",
        "mean": "--predictor mean --mode pure",
        "no grid": "--grid none",
        "wide grid pure": "--mode pure --grid 0.5",
        "many raters": "--mode pure --min-raters 3",
        "k 20": "--k 20",
        "k 25 pure": "--k 25 --mode pure",
        "k 2": "--k 2 --mode pure",
        "rank": "--rank 3 --iterations 2 --tolerance 0",
    }.items()
}
TEXTS = {
    f"release text ids {mode} {layout}": [
        publishing(f"--mode {mode} --layout {layout} --format {form}", source="texts.csv")
    ]
    for mode, layout, form in (("pure", "long", "csv"), ("padded", "grouped", "parquet"))
}
SYNTH = {
    "synth tiny": ["synth made.csv --preset tiny --seed 1 --json"],
    "synth small": [f"synth made.csv {SMALL} --titles --mentions --json"],
    "synth parquet": [f"synth made.parquet {SMALL} --titles --mentions --json"],
    "synth zst": [f"synth made.csv.zst {SMALL} --json"],
    "synth folder": [f"synth made {SMALL} --titles --mentions --json"],
    "synth folder csv": [f"synth made {SMALL} --titles --mentions --format csv --json"],
    "synth mentions": [
        f"synth made.csv {SMALL} --mentions --mentioners 0.4 --mentions-rated 0.6 --mentions-exponent 1.4"
        " --mentions-popularity 0.9 --json"
    ],
    "synth ml-1m": ["synth made.csv --preset ml-1m --users 200 --items 90 --seed 3 --json"],
    "synth netflix": ["synth made.parquet --preset netflix --users 200 --items 90 --titles --mentions --seed 3 --json"],
    "synth by sizes": ["synth made.csv --users 150 --items 60 --ratings 2000 --seed 5 --json"],
}
INSPECT = {
    f"inspect {name}": [f"inspect {source} --targets 40 --seed 2 --json"]
    for name, source in {
        "csv": "ratings.csv",
        "texts": "texts.csv",
        "gz": "ratings.csv.gz",
        "movielens": "ratings.dat",
        "recbole": "ratings.inter",
        "netflix": "combined_data_1.txt",
        "several": "kept.csv probe.csv",
        "bad rows": "bad.csv --skip-bad --scale 1,5",
        "columns": "ratings.csv --user item --item user --rating rating --time none",
    }.items()
}
AUDIT = "--targets 30 --varied-at 4 --seed 3 --json"
MEASURES = {
    "verify": [publishing(), "verify out --json", "verify out --k 50 --json"],
    "verify pure": [
        publishing("--mode pure --diversity 1,2"),
        "verify out --original ratings.csv --json",
        "verify out --original ratings.csv --diversity 2,9 --json",
    ],
    "audit padded": [publishing(), f"audit ratings.csv out {AUDIT}"],
    "audit pure": [publishing("--mode pure"), f"audit ratings.csv out --link-cap 0.2 --gate scoreboard@4<0.05 {AUDIT}"],
    "audit texts": [publishing("--mode pure", source="texts.csv"), f"audit texts.csv out {AUDIT}"],
    "audit second": [
        publishing(),
        publishing("--mode pure", seed=7).replace("-o out", "-o two"),
        f"audit ratings.csv out --second two {AUDIT}",
    ],
    "audit probe": [
        publishing(source="kept.csv"),
        f"audit kept.csv out --probe probe.csv {AUDIT}",
    ],
    "evaluate probe": [publishing(source="kept.csv"), "evaluate kept.csv out --probe probe.csv --seed 2 --json"],
    "evaluate holdout": ["evaluate ratings.csv --holdout 0.1 --k 3 --mode pure --seed 2 --json"],
    "frontier": ["frontier ratings.csv --k 3,20 -o page.html --targets 20 --known 4 --seed 1 --json"],
}
NIGHTS = ("2000-06-15", "2000-09-01", "2001-02-01", "2002-01-01")


def nights(*flags: str, store: str = "lists.db") -> list[str]:
    return [f"related publish {store} ratings.csv --until {night} {' '.join(flags)} --json" for night in NIGHTS]


RELATED = {
    **{
        f"related build {measure}": [f"related build ratings.csv -o lists.{form} --similarity {measure} {more} --json"]
        for measure, form, more in (
            ("cosine", "csv", ""),
            ("presence", "parquet", "--shrinkage 10"),
            ("pearson", "csv", "--min-support 3"),
            ("adjusted", "csv", "--top 8"),
            ("conditional", "csv", "--until 2001-01-01"),
        )
    },
    "related build texts": ["related build texts.csv -o lists.csv --json"],
    "related nights": [
        *nights("--delta 0.3"),
        "related verify lists.db ratings.csv --residual 2 --seed 1 --json",
        "related history lists.db --json",
        "related history lists.db --changes 1 3 --json",
        "related export lists.db -o all.csv --json",
        "related export lists.db -o last.parquet --release last --json",
        "related attack lists.db ratings.csv --known 3 --targets 40 --seed 1 --json",
    ],
    "related nights suppressed": [
        *nights("--method supp --delta 0.2 --window all --knowledge 2"),
        "related verify lists.db ratings.csv --json",
        "related verify lists.db ratings.csv --delta 0.01 --evidence total --json",
    ],
    "related nights total": [*nights("--evidence total --top 3"), "related export lists.db -o all.parquet --json"],
    "related nights of others": [
        "related build ratings.csv -o others.csv --top 8 --similarity presence --json",
        *nights("--lists others.csv --delta 0.3"),
    ],
    "related nights of texts": [
        *(line.replace("ratings.csv", "texts.csv") for line in nights("--delta 0.3")),
        "related export lists.db -o all.csv --json",
    ],
    **{
        f"related simulate {name}": [f"related simulate ratings.csv --gap 30 --seed 1 {flags} --json"]
        for name, flags in {
            "perm": "--delta 0.2 --history kept.db",
            "supp": "--method supp --knowledge 2",
            "noise": "--method rp",
            "nothing": "--method none",
            "literal": "--literal --evidence total --delta 0.3",
        }.items()
    },
    "related advise": ["related advise ratings.csv --deltas 0.1,0.3 --gap 30 --seed 1 --json"],
}
MENTIONS = {
    "mentions find": [
        "mentions find posts.txt --titles titles.csv -o found.csv --json",
        "mentions find posts.txt --titles titles.csv -o found.parquet --ratings ratings.csv --json",
        "mentions find posts.txt --titles titles.csv -o found.jsonl --json",
    ],
    "mentions identify": ["mentions identify said.csv --mentions said-mentions.csv --json"],
    "mentions identify open": [
        "mentions identify said.csv --mentions said-mentions.csv --absent 0.4 --threshold 0.2 --flat --fuzz 0.5"
        " --ignore 0.1 --unsaid none --seed 4 --json"
    ],
    "mentions defend": ["mentions defend said.csv --mentions said-mentions.csv --json"],
}
CASES = {**RELEASES, **VARIANTS, **TEXTS, **SYNTH, **INSPECT, **MEASURES, **RELATED, **MENTIONS}
MANY = "synth many.parquet --preset tiny --users 11000 --items 50 --ratings 110000 --seed 1 --json"
SLOW = {  # many users are grouped in several bins, and in several threads
    "demo": ["demo -o out --json"],
    "release of many padded": [MANY, publishing(source="many.parquet")],
    "release of many pure": [MANY, publishing("--mode pure", source="many.parquet")],
}
ON_SPARK = {
    **{
        f"spark release {mode} {layout} 1": [publishing(f"--engine spark --mode {mode} --layout {layout}")]
        for mode, layout in product(("pure", "padded"), ("long", "grouped"))
    },
    "spark release diversity": [publishing("--engine spark --mode pure --diversity 1,2")],
    "spark measures": [
        publishing("--mode pure", source="kept.csv"),
        "inspect ratings.csv --engine spark --targets 40 --seed 2 --json",
        "verify out --engine spark --json",
        "evaluate kept.csv out --engine spark --probe probe.csv --seed 2 --json",
        "related build ratings.csv -o lists.csv --engine spark --json",
    ],
}
CUT_SMALL = {
    f"spark cut small {mode} {layout} 7": (layout, 7, {"k": 4, "mode": mode})
    for mode, layout in (("pure", "long"), ("padded", "grouped"))
}
NAMES = {"sources", *CASES, *SLOW, *ON_SPARK, *CUT_SMALL}


@functools.cache
def sources() -> dict[str, bytes]:
    """Give the files that every case finds in its folder, by name."""
    with TemporaryDirectory() as folder, chdir(folder):
        command(f"synth ratings.csv {SMALL} --json")
        command(f"synth said.csv {SMALL} --mentions --mentioners 0.3 --json")
        made = {path.name: path.read_bytes() for path in Path().iterdir()}
    head, *rows = made["ratings.csv"].decode().splitlines()
    fields = [row.split(",") for row in rows]
    texts = {
        "texts.csv": [
            head,
            *(f"u{user},film {item},{more}" for user, item, more in (row.split(",", 2) for row in rows)),
        ],
        "kept.csv": [head, *(row for number, row in enumerate(rows) if number % 10 != 3)],
        "probe.csv": [head, *rows[3::10]],
        "bad.csv": [head, *rows[:600], "5,,3,9", "5,1,good,9", "5,1,99,9", *rows[:3]],
        "ratings.dat": ["::".join(field) for field in fields],
        "ratings.inter": ["user_id:token\titem_id:token\trating:float\ttimestamp:float", *map("\t".join, fields)],
        "combined_data_1.txt": netflix(fields),
    }
    made |= {name: ("\n".join(lines) + "\n").encode() for name, lines in texts.items()}
    made |= {"posts.txt": POSTS.encode(), "titles.csv": TITLES.encode()}
    return made | {"ratings.csv.gz": gzip.compress(made["ratings.csv"], mtime=0)}


def netflix(fields: list[list[str]]) -> list[str]:
    lines = []
    for item in sorted({int(row[1]) for row in fields}):
        lines.append(f"{item}:")
        lines += [f"{row[0]},{row[2]},2005-09-{1 + int(row[0]) % 28:02d}" for row in fields if int(row[1]) == item]
    return lines


def command(line: str) -> bytes:
    """Run one command and give its exit code and what it prints, without what its time was."""
    printed = io.StringIO()
    with redirect_stdout(printed):
        code = run(shlex.split(line))
    assert code in (0, 1), f"recloak {line}: exit code {code}"
    assert printed.getvalue().startswith("{"), f"recloak {line}: no JSON"
    return f"{code}\n".encode() + ADDED.sub(b"", TIMING.sub(b"", printed.getvalue().encode()))


def outputs(lines: list[str]) -> dict[str, str]:
    """Run the commands of a case in this folder and give the SHA-256 of every output by its name."""
    given = sources()
    for name, content in given.items():
        Path(name).write_bytes(content)
    found = {f"output of {line}": sha(command(line)) for line in lines}
    return found | left_in(Path(), given)


def left_in(folder: Path, given: Collection[str] = ()) -> dict[str, str]:
    """Give the SHA-256 of every file of a folder by its name in it, as far as its content is promised."""
    names = {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if path.is_file()}
    return {
        f"file {name}": sha(content(path))
        for name, path in names.items()
        if name not in given and path.suffix not in {".html", ".db-shm", ".db-wal"}
    }


def content(path: Path) -> bytes:
    if path.suffix == ".db":
        return TIMING_WITHIN.sub(b"", b"\n".join(dumped(path)))
    if path.name == "account.json":
        return FOLDER.sub(b"", TIMING.sub(b"", path.read_bytes()))
    return TIMING.sub(b"", path.read_bytes()) if path.suffix == ".json" else path.read_bytes()


AGAIN = "recloak_packed_lists"  # says what the entries say, compressed: its bytes follow the version of zlib


def dumped(store: Path) -> Iterator[bytes]:
    """Give the tables of a history as text: their columns, and their rows in order."""
    with closing(sqlite3.connect(store)) as database:
        tables = [
            name
            for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY 1")
            if name != AGAIN
        ]
        for table in tables:
            columns = [(row[1], row[2]) for row in database.execute(f"PRAGMA table_info({table})")]
            order = ", ".join(str(number) for number in range(1, len(columns) + 1))
            yield f"{table} {columns}".encode()
            yield from (repr(row).encode() for row in database.execute(f"SELECT * FROM {table} ORDER BY {order}"))
    database.close()


def sha(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def installed() -> dict[str, str]:
    """Give the versions of the libraries that bytes depend on."""

    def of(name: str) -> str:
        try:
            return version(name)
        except PackageNotFoundError:
            return "none"

    return {name: of(name) for name in LIBRARIES}


def host_processor() -> str:
    """Return the name that compilers have for this machine's processor."""
    return str(llvmlite.binding.get_host_cpu_name())


def compare(case: str, found: dict[str, str]) -> None:
    """Fail with the names of the outputs that are not what they were; or write them down, where that is asked for."""
    golden = json.loads(HASHES.read_text(encoding="utf-8")) if HASHES.exists() else {"libraries": {}, "cases": {}}
    if os.environ.get(WRITE):
        assert not os.environ.get("CI"), f"{WRITE} is for people, who say why bytes change"
        golden["processor"] = host_processor()
        golden["libraries"] |= {name: now for name, now in installed().items() if now != "none"}
        cases = {**golden["cases"], case: found}
        golden["cases"] = {name: cases[name] for name in sorted(cases) if name in NAMES}
        HASHES.write_text(json.dumps(golden, indent=1) + "\n", encoding="utf-8")
        return
    compare_with(golden["cases"].get(case, {}), case, found)


def only_digits(differing: str) -> bool:
    """Return whether an output holds measured numbers, whose last digits follow the processor; a release does not."""
    return differing.startswith(MEASURED)


def compare_with(expected: dict[str, str], case: str, found: dict[str, str]) -> None:
    """Fail with the names of the outputs that are not as expected, unless they were made on another processor."""
    golden = json.loads(HASHES.read_text(encoding="utf-8"))
    differing = [
        f"{name}: {'is not there any more' if name not in found else 'is new' if name not in expected else 'differs'}"
        for name in sorted(expected.keys() | found.keys())
        if expected.get(name) != found.get(name)
    ]
    others = [f"{name} {now}" for name, now in installed().items() if golden["libraries"].get(name, now) != now]
    processor = golden.get("processor", host_processor())
    if differing and processor != host_processor() and all(map(only_digits, differing)):
        told = "; ".join(differing)
        pytest.skip(f"bytes differ, and they were made on {processor}, not on {host_processor()}: {told}")
    if differing and case.startswith("audit") and golden["libraries"]["numpy"] != installed()["numpy"]:
        pytest.skip("digits of an audit differ, and its fits were made with another library of linear algebra")
    hint = f"\n(the hashes were made with other libraries than {', '.join(others)})" if others else ""
    assert not differing, f"{case}: not the bytes they were:\n  " + "\n  ".join(differing) + hint


def test_the_sources_are_what_they_were():
    """The packed file is left out: its bytes follow the version of zlib, and what it unpacks to is `ratings.csv`."""
    compare("sources", {f"file {name}": sha(content) for name, content in sources().items() if name[-3:] != ".gz"})


@pytest.mark.parametrize("case", [*CASES, *(pytest.param(case, marks=pytest.mark.slow) for case in SLOW)])
def test_the_same_seed_gives_the_bytes_it_gave(case, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    compare(case, outputs({**CASES, **SLOW}[case]))


@pytest.mark.parametrize(
    ("flags", "digest"),
    [
        ("--labels raters", "81b76d9f067639512515c2ad1dce5b5bda6b5f008aec52f7bd6f58f604b762d5"),
        ("--mode pure", "a79d8c9582a2b95c14728a0ce23a1ebfe9b7595a206ed752268f81dd2353a8b9"),
    ],
)
def test_labels_of_raters_are_what_they_were_before_labels_of_the_model(flags, digest, tmp_path, monkeypatch):
    """Names have changed since, so the rows are taken by the ids of the source: groups and labels are the same."""
    monkeypatch.chdir(tmp_path)
    outputs([publishing(f"--layout grouped {flags}")])
    who = pl.read_parquet("out-private/mapping.parquet")
    rows = pl.read_parquet("out/profiles.parquet").join(who, on="group").select("user_id", "item", "rating")
    found = {"rows by id": sha(rows.sort("user_id", "item").write_csv().encode())}
    compare_with({"rows by id": digest}, "labels of raters", found)


@pytest.mark.spark
@pytest.mark.parametrize("case", ON_SPARK)
def test_the_same_seed_gives_the_bytes_it_gave_on_spark(case, tmp_path, monkeypatch, spark_cluster):
    assert spark_cluster, "the commands below use the session that runs already"
    monkeypatch.chdir(tmp_path)
    compare(case, outputs(ON_SPARK[case]))


@pytest.mark.spark
@pytest.mark.parametrize("case", CUT_SMALL)
def test_the_same_seed_gives_the_bytes_it_gave_on_spark_in_many_pieces(case, tmp_path, spark_cluster):
    """No flag cuts the work so small, so this goes through the engine that the other tests use."""
    from tests.engines import Spark

    layout, seed, options = CUT_SMALL[case]
    source = tmp_path / "texts.csv"
    source.write_bytes(sources()["texts.csv"])
    Spark(spark_cluster, tmp_path).publish(source, tmp_path / "out", layout, rng=seed, **options)  # type: ignore[arg-type]
    compare(case, left_in(tmp_path, {source.name}))


def test_every_case_is_written_down_and_nothing_else():
    written = json.loads(HASHES.read_text(encoding="utf-8"))["cases"]
    assert set(written) == NAMES
