"""What a poster sees and does on the advisor page."""

import re

import pytest

pytestmark = pytest.mark.browser
RISKY = "I liked Zorgon (1950) and The Glass Orchard 🎬 last week."


def words(page):
    return page.inner_text("#meter-words")


def marks(page):
    return {mark.inner_text(): mark.get_attribute("class") for mark in page.locator("#backdrop mark").all()}


def test_typing_marks_titles_and_says_what_each_gives_away(visit):
    page = visit("/", user=0)
    page.locator("#draft").press_sequentially(RISKY, delay=2)
    page.wait_for_selector("#backdrop mark.little")
    assert marks(page) == {"Zorgon": "most", "The Glass Orchard": "little"}
    shown = page.locator("#finds-list .name, #finds-list .gives").all_inner_texts()
    assert shown == ["Zorgon (1950)", "gives most away", "The Glass Orchard (1987)", "gives a little away"]
    assert words(page) == "Nearly alone"


def test_marks_stand_on_the_words_behind_an_emoji(advised):
    page = advised("🎬🎬 👩‍👩‍👧 Zorgon (1950)!")
    assert marks(page) == {"Zorgon": "most"}


def test_a_draft_from_right_to_left_runs_so_and_its_marks_with_it(advised):
    page = advised("אהבתי את Zorgon (1950) מאוד\nand this in English")
    looks = "e => { const { direction, unicodeBidi } = getComputedStyle(e); return [direction, unicodeBidi]; }"
    assert page.locator("#draft").evaluate(looks) == ["rtl", "plaintext"]
    assert page.locator("#backdrop").evaluate(looks) == ["rtl", "plaintext"]
    assert marks(page) == {"Zorgon": "most"}


def test_a_title_from_right_to_left_does_not_turn_its_sentence(visit):
    page = visit("/", user=0)
    said = """async (title) => (await import("/static/lists.js")).inWords({ drop: [{ title }], add: [] })"""
    assert page.evaluate(said, "Heat") == "Leave out Heat"
    assert page.evaluate(said, "קולנוע") == "Leave out \u2068קולנוע\u2069"


def test_an_example_is_one_click_away(visit):
    page = visit("/", user=0)
    page.click("#example")
    page.wait_for_selector("#backdrop mark")
    assert len(page.input_value("#draft")) > 20
    assert not page.is_visible("#empty")


def test_a_suggestion_changes_the_text_and_the_meter_and_can_be_taken_back(advised):
    page = advised(RISKY)
    assert words(page) == "Nearly alone"
    with page.answering():
        page.click("#help-main button")
    page.wait_for_selector('#meter-words:text-is("One of dozens")')
    assert page.input_value("#draft") == "I liked The Glass Orchard 🎬 last week."
    assert page.inner_text("#meter-verdict") == "Well hidden"
    with page.answering():
        page.click("#undo")
    page.wait_for_selector('#meter-words:text-is("Nearly alone")')
    assert page.input_value("#draft") == RISKY


def test_an_added_title_is_written_and_counted(advised):
    """Say that the first addition helps: which titles are proposed depends on the secret, and few help here."""

    def helpful(route):
        answer = route.fetch()
        told = answer.json()
        told["adds"][0] |= {
            "add": [{"item": 5, "title": "The Cartographer's Son (1997)"}],
            "band": {"band": "11 to 100", "words": "one of dozens"},
        }
        route.fulfill(response=answer, json=told)

    page = advised("I liked Ninety Miles of Rain (2001) and Brass Weather")
    page.route("**/api/v1/advice", helpful)
    with page.answering():
        page.locator("#draft").press("End")
        page.keyboard.type(" ")
    button = page.get_by_role("button", name="Add The Cartographer's Son (1997)")
    assert "then one of dozens" in button.inner_text()
    with page.answering():
        button.click()
    assert page.input_value("#draft").endswith("\nWhat do you think of The Cartographer's Son (1997)?")
    assert "The Cartographer's Son" in marks(page)


def test_each_attacker_shows_its_crowd_and_exposure_is_told(advised):
    page = advised(RISKY)
    page.locator("#ways summary").click()
    assert page.locator("#ways-list button").count() >= 9
    page.locator("#ways-list button").last.press("Enter")
    page.locator("#exposure-ask").press("Enter")
    page.wait_for_selector('#exposure-words:text-is("We know of no posts of yours.")')


def test_exposure_names_what_gives_most_away_and_what_deleting_it_brings(visit):
    page = visit("/", user=44)
    page.locator("#exposure-ask").press("Enter")
    page.wait_for_selector("#exposure-list li")
    assert page.inner_text("#exposure-words").startswith("Not hidden: by ")
    assert "Fjordlight (1961)" in page.locator("#exposure-list li").first.inner_text()
    assert 1 <= page.locator("#exposure-list li").count() <= 5


def test_taking_back_works_after_more_was_written(advised):
    page = advised(RISKY)
    with page.answering():
        page.get_by_role("button", name="Leave out Zorgon (1950)", exact=True).click()
    page.locator("#draft").press("Control+End")
    page.locator("#draft").press_sequentially(" And you?")
    page.click("#undo")
    assert page.input_value("#draft") == RISKY + " And you?"


def test_control_z_takes_a_suggestion_back(advised):
    page = advised(RISKY)
    with page.answering():
        page.get_by_role("button", name="Leave out Zorgon (1950)", exact=True).click()
    assert "Zorgon" not in page.input_value("#draft")
    page.focus("#draft")
    page.keyboard.press("Control+z")
    assert page.input_value("#draft") == RISKY


def test_everything_works_by_keyboard_alone(visit, service):
    page = visit("/")
    page.keyboard.type(service.token(0))  # the field for the key has the focus
    page.keyboard.press("Enter")
    page.wait_for_selector("#meter-answer:not([hidden])")
    assert page.evaluate("document.activeElement.id") == "draft"
    page.keyboard.type(RISKY)
    page.wait_for_selector("#help-main button")
    reach(page, "#help-main button")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
    page.keyboard.press("Enter")
    page.wait_for_selector("#undo:not([hidden])")
    assert page.evaluate("document.activeElement.id") == "undo"
    page.keyboard.press("Enter")
    assert page.input_value("#draft") == RISKY
    assert page.evaluate("document.activeElement.id") == "draft"


def reach(page, selector, most=30):
    for _ in range(most):
        if page.evaluate("s => document.activeElement.matches(s)", selector):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"{selector} cannot be reached by keyboard")


def test_what_a_find_means_can_be_corrected(advised):
    page = advised("Has anyone seen Solaris (1972)?")
    row = page.locator("#finds-list li")
    with page.answering():
        row.locator("select").select_option(label="Solaris (2002)")
    page.wait_for_selector('#finds-list .name bdi:text-is("Solaris (2002)")')
    with page.answering():
        row.locator("select").select_option(label="No title at all")
    page.wait_for_selector("#finds-list li.none")
    assert marks(page) == {}
    with page.answering():
        row.locator("select").select_option(label="Solaris (1972)")
    page.wait_for_selector("#backdrop mark")
    assert page.inner_text("#finds-list .name") == "Solaris (1972)"


def test_a_correction_moves_along_with_the_text(advised):
    page = advised("Has anyone seen Solaris (1972)?")
    with page.answering():
        page.locator("#finds-list select").select_option(label="Solaris (2002)")
    page.wait_for_selector('#finds-list .name bdi:text-is("Solaris (2002)")')
    page.locator("#draft").press("Control+Home")
    with page.answering():
        page.keyboard.type("🎬 Hello. ")
    page.wait_for_timeout(300)
    assert page.inner_text("#finds-list .name") == "Solaris (2002)"


def test_what_was_posted_counts_from_then_on(advised):
    page = advised("I liked Zorgon (1950).")
    with page.answering():
        page.click("#posted")
    page.wait_for_selector("#earlier li")
    assert page.input_value("#draft") == ""
    assert words(page) == "Nearly alone"
    with page.answering():
        page.get_by_role("button", name="Take Zorgon (1950) off").click()
    page.wait_for_selector('#meter-words:text-is("One of hundreds")')


def test_markup_in_a_draft_stays_text(advised):
    nasty = "<script>alert(1)</script><img src=x onerror=alert(2)> Zorgon (1950) <b>"
    page = advised(nasty)
    page.wait_for_selector("#backdrop mark")
    assert page.locator("#work script, #work img, #work b").count() == 0
    assert page.inner_text("#backdrop").strip("\u200b") == nasty


def test_the_meter_is_told_to_a_screen_reader_once_per_change(advised):
    page = advised(RISKY)
    spoken = page.locator("#meter-spoken")
    assert spoken.get_attribute("aria-live") == "polite"
    assert re.fullmatch(
        r"Not hidden enough: with this post you would be nearly alone; before it, .+\.", spoken.inner_text()
    )


def test_a_way_of_looking_is_chosen_by_key_and_shown_as_chosen(advised):
    page = advised(RISKY)
    page.locator("#ways summary").press("Enter")
    chosen = page.locator("#ways-list button").nth(1)
    chosen.press("Enter")
    pressed = page.locator("#ways-list button[aria-pressed=true]")
    assert pressed.count() == 1
    assert pressed.inner_text() == chosen.inner_text()
