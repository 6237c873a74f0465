"""Numbers as a reader meets them."""

from recloak._core.intervals import wilson
from recloak._report.formats import count, day, number, percent, plural, with_interval


def spaced(text):
    return text.replace("\N{NO-BREAK SPACE}", " ")


def test_whole_numbers_have_their_thousands_apart():
    assert (count(1_000_209), count(0), count(999.6)) == ("1,000,209", "0", "1,000")


def test_numbers_keep_four_digits_or_their_whole_part():
    assert (number(3.58156), number(165.5975), number(904_757.3)) == ("3.582", "165.6", "904,757")


def test_shares_have_one_decimal_and_small_ones_do_not_vanish():
    assert [spaced(percent(x)) for x in (0, 0.6584, 1, 0.00012)] == ["0.0 %", "65.8 %", "100.0 %", "0.012 %"]


def test_an_interval_stands_beside_its_share():
    assert spaced(with_interval(wilson(41, 133))) == "30.8 % (23.6 to 39.1)"


def test_nouns_agree_with_their_numbers():
    assert [spaced(plural(n, "item")) for n in (0, 1, 2)] == ["0 items", "1 item", "2 items"]


def test_days_are_in_utc_and_impossible_ones_stay_numbers():
    assert spaced(day(956_703_932)) == "25 April 2000"
    assert spaced(day(10**15)) == f"{10**15} s"
