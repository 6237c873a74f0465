"""The library speaks of keywords, the command line of flags."""

import pytest

from recloak._cli.main import as_flags


@pytest.mark.parametrize(
    ("sentence", "shown"),
    [
        ("pass original=... as well", "pass --original as well"),
        ("leave max_link=... out", "leave --max-link out"),
        ("pass window='all'", "pass --window all"),
        ("literal=True needs evidence='total'", "--literal needs --evidence total"),
        ("there must be at least k = 5 users", "there must be at least k = 5 users"),
    ],
)
def test_keywords_of_a_sentence_become_flags(sentence, shown):
    assert as_flags(sentence) == shown
