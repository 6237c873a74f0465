"""What the tests share."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("recloak", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True)
settings.load_profile("recloak")


@pytest.fixture(scope="session")
def data() -> Path:
    """Give the folder of real data, or skip with the reason."""
    folder = os.environ.get("RECLOAK_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("RECLOAK_DATA does not name a folder with real data")
    return Path(folder)


@pytest.fixture(scope="session")
def spark_cluster() -> Iterator[Any]:
    """Give a session on a cluster of two worker processes, one for all tests that ask for it."""
    from tests.engines import cluster

    with cluster("local-cluster[2,1,1024]") as spark:
        yield spark


@pytest.fixture(params=["local", pytest.param("spark", marks=pytest.mark.spark)])
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """Give each engine in turn."""
    from tests.engines import Here, Spark

    return Here() if request.param == "local" else Spark(request.getfixturevalue("spark_cluster"), tmp_path)
