"""What is said when Spark cannot run, and how its settings are read."""

import importlib
import sys

import pytest

from recloak._cli.main import run
from recloak._core.errors import MissingExtraError, OptionError, RecloakError
from recloak._spark import session
from recloak._spark.session import SparkOptions


def test_a_missing_pyspark_is_told_in_one_sentence(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match=r"pip install 'recloak\[spark\]'"):
        session.require_spark()


def test_a_missing_java_is_told_in_one_sentence(monkeypatch, tmp_path):
    pytest.importorskip("pyspark")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(MissingExtraError, match=r"needs Java 17 or later.*JAVA_HOME"):
        session.require_spark()


def test_an_old_pyspark_is_told_in_one_sentence(monkeypatch):
    pyspark = pytest.importorskip("pyspark")
    monkeypatch.setattr(pyspark, "__version__", "3.5.1")
    with pytest.raises(MissingExtraError, match=r"pyspark 4\.0 or later, got 3\.5\.1"):
        session.require_spark()


def test_settings_are_pairs_and_values_may_hold_the_sign():
    assert SparkOptions(conf=("spark.a=1", "spark.b=x=y")).settings() == {"spark.a": "1", "spark.b": "x=y"}
    with pytest.raises(OptionError, match="KEY=VALUE, got 'spark'"):
        SparkOptions(conf=("spark",))


@pytest.mark.parametrize(
    ("master", "conf", "environment", "python"),
    [
        ("local[2]", (), {}, sys.executable),
        ("local-cluster[2,1,1024]", (), {}, sys.executable),
        ("spark://127.0.0.1:7077", (), {}, sys.executable),
        (None, (), {}, sys.executable),
        (None, (), {"SPARK_CONF_DIR": "/etc/spark"}, None),
        ("spark://head:7077", (), {}, None),
        ("yarn", ("spark.pyspark.python=./env/bin/python",), {}, "./env/bin/python"),
        ("local[2]", (), {"PYSPARK_PYTHON": "/opt/python"}, "/opt/python"),
        ("yarn", ("spark.pyspark.python=a",), {"PYSPARK_PYTHON": "b"}, "a"),
    ],
)
def test_workers_of_this_machine_run_the_same_python_and_others_the_one_named(
    monkeypatch, master, conf, environment, python
):
    for name in ("PYSPARK_PYTHON", "SPARK_HOME", "SPARK_CONF_DIR", "MASTER"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert session.workers_python(SparkOptions(master=master, conf=conf)) == python


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["publish", "x.csv", "-o", "out", "--master", "local"], "--master and --conf are for --engine spark"),
        (["publish", "x.csv", "-o", "out", "--engine", "spark", "--conf", "nothing"], "KEY=VALUE, got 'nothing'"),
    ],
)
def test_the_command_refuses_what_makes_no_sense_before_spark_starts(tmp_path, monkeypatch, capsys, arguments, told):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.csv").write_text("user,item,rating\n1,2,3\n")
    assert run(arguments) == 2
    assert told in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["x.csv"]


def test_a_job_that_spark_gives_up_is_told_in_the_sentence_of_the_worker():
    errors = pytest.importorskip("pyspark.errors")
    text = "An exception was thrown\nrecloak._core.errors.InputError: diversity 1,9 needs at least 9 groups, got 3\n"
    with pytest.raises(RecloakError, match="nothing came of it: diversity 1,9 needs"), session.plain_errors():
        raise errors.PySparkException(message=text)
