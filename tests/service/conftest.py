import pytest

from tests.service.helpers import World


@pytest.fixture
def world(tmp_path):
    made = World(tmp_path)
    yield made
    made.close()
