"""What the tests share."""

import os
from pathlib import Path

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
