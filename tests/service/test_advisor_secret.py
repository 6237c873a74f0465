"""The advisor's secret: created once, never changed, readable by its owner only."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from recloak._core.errors import InputError
from recloak._service.secret_files import advisor_secret


def test_all_who_ask_at_once_and_later_get_the_same_secret(tmp_path):
    with ThreadPoolExecutor(8) as pool:
        found = set(pool.map(lambda _: advisor_secret(tmp_path / "tokens.db"), range(16)))
    assert found == {advisor_secret(tmp_path / "tokens.db")}
    assert [file.name for file in tmp_path.iterdir()] == ["tokens.db.crowd"]
    assert (tmp_path / "tokens.db.crowd").stat().st_mode & 0o777 == 0o600


def test_two_services_have_two_secrets(tmp_path):
    assert advisor_secret(tmp_path / "a") != advisor_secret(tmp_path / "b")


def test_a_folder_that_is_not_there_is_told(tmp_path):
    with pytest.raises(InputError, match="the crowd's secret cannot be written"):
        advisor_secret(tmp_path / "nowhere" / "tokens.db")


def test_a_damaged_secret_is_refused_and_not_replaced(tmp_path):
    (tmp_path / "tokens.db.crowd").write_bytes(b"short")
    (tmp_path / "tokens.db.crowd").chmod(0o600)
    with pytest.raises(InputError, match="a crowd's secret has 32 bytes, got 5"):
        advisor_secret(tmp_path / "tokens.db")
    assert (tmp_path / "tokens.db.crowd").read_bytes() == b"short"


def test_a_secret_that_others_can_read_is_refused(tmp_path):
    advisor_secret(tmp_path / "tokens.db")
    (tmp_path / "tokens.db.crowd").chmod(0o640)
    with pytest.raises(InputError, match="others than its owner may read or write it; first run: chmod 600"):
        advisor_secret(tmp_path / "tokens.db")
