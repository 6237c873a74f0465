"""The page of related titles."""

import pytest

pytestmark = pytest.mark.browser


def test_a_title_is_found_and_its_list_shown_without_gaps(visit):
    page = visit("/items")
    page.locator("#search-field").press_sequentially("glass orch")
    page.click("#search-list a")
    page.wait_for_selector("#list li")
    assert page.inner_text("h1") == "The Glass Orchard (1987)"
    shown = page.locator("#list li").all_inner_texts()
    assert [one.split("\n")[-1] for one in shown] == ["A Quiet Meridian (2010)", "Salt and Ember (1994)"]


def test_the_history_says_what_appeared_left_rose_and_sank(visit):
    page = visit("/items/1")
    page.wait_for_selector("#history-list li")
    days = page.locator("#history-list > li").all_inner_texts()
    assert "rose from place 2 to 1" in days[0]
    assert "sank from place 1 to 2" in days[0]
    assert "Nine Winters (2003) left, from place 2" in days[1]
    assert "A Quiet Meridian (2010) is new, at place 3" in days[2]
    assert "The Lanternmaker (1999) left, from place 3" in days[2]
    assert "The first list shown here." in days[3]


def test_a_list_leads_to_the_next(visit, service):
    page = visit("/items/1")
    page.watched.allowed.append("Failed to load resource")
    page.click("#list a >> nth=0")
    page.wait_for_selector("#problem:not([hidden])")  # the title has an empty list only
    assert page.url == f"{service.origin}/items/5"
    assert page.inner_text("#problem") == "There is no published list for this title."


@pytest.mark.parametrize(
    "path", ["/items/999", "/items/%3Cscript%3Ealert(1)%3C%2Fscript%3E", "/items/%2e%2e%2fx", "/items/%E0"]
)
def test_an_unknown_title_is_told_in_words(visit, path):
    page = visit(path)
    page.watched.allowed.append("Failed to load resource")
    page.wait_for_selector("#problem:not([hidden])")
    assert page.inner_text("#problem") == "There is no published list for this title."


def test_words_of_no_title_find_nothing(visit):
    page = visit("/items")
    page.fill("#search-field", "<b>xyzzy")
    page.wait_for_selector('#search-told:text-is("No title with these words.")')
