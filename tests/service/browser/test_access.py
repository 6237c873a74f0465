"""Keys, limits and a service that cannot be reached: plain messages, and the draft is kept."""

import json
from typing import Any

import pytest

pytestmark = pytest.mark.browser
QUIET = "Failed to load resource"  # the browser's own line for an answer that is an error


def test_a_key_from_the_address_is_wiped_from_it_at_once(visit, service):
    page = visit("/", user=0)
    assert page.url == service.origin + "/"
    assert page.evaluate("history.length") <= 2
    page.go_back()
    assert "token" not in page.url
    page.watched.problems.clear()


def test_a_key_is_kept_for_the_tab_only(visit):
    page = visit("/", user=0)
    assert page.evaluate("[localStorage.length, document.cookie, sessionStorage.length]") == [0, "", 1]
    page.reload()
    page.wait_for_selector("#meter-answer:not([hidden])")
    page.click("#key-forget")
    assert page.evaluate("sessionStorage.length") == 0
    assert page.is_visible("#key-field")
    assert not page.is_visible("#draft")


@pytest.mark.parametrize("key", ["nonsense", "rck_" + "a" * 40, "ключ 🗝"])
def test_a_wrong_key_is_told_and_asked_for_again(visit, key):
    page = visit("/")
    page.watched.allowed.append(QUIET)
    page.fill("#key-field", key)
    page.press("#key-field", "Enter")
    page.wait_for_selector("#key-problem:not([hidden])")
    assert "not valid" in page.inner_text("#key-problem")
    assert page.evaluate("document.activeElement.id") == "key-field"
    assert page.evaluate("sessionStorage.length") == 0


def test_a_key_that_expires_never_costs_the_draft(advised, service):
    page = advised("I liked Zorgon (1950).")
    page.watched.allowed.append(QUIET)
    page.route("**/api/v1/advice", answered(401, "bad_token"))
    page.locator("#draft").press_sequentially(" And more")
    page.wait_for_selector("#key-card:not([hidden])")
    assert page.input_value("#draft").startswith("I liked Zorgon (1950).")
    assert page.is_visible("#draft")
    page.unroute("**/api/v1/advice")
    page.fill("#key-field", service.token(0))
    page.press("#key-field", "Enter")
    page.wait_for_selector("#key-card", state="hidden")


def answered(status, code, **headers):
    body = json.dumps({"error": {"code": code, "message": "no"}})
    return lambda route: route.fulfill(status=status, body=body, content_type="application/json", headers=headers)


def test_too_many_questions_are_told_and_asked_again_by_itself(advised):
    page = advised("I liked Zorgon (1950).")
    page.watched.allowed.append(QUIET)
    page.route("**/api/v1/advice", answered(429, "too_many", **{"Retry-After": "1"}))
    page.locator("#draft").press_sequentially(" Yes")
    page.wait_for_selector("#problem:not([hidden])")
    assert page.inner_text("#problem-words").endswith("The next try is in 1 second.")
    page.unroute("**/api/v1/advice")
    page.wait_for_selector("#problem", state="hidden")


def test_being_offline_is_told_and_mended(advised):
    page = advised("I liked Zorgon (1950).")
    page.watched.allowed.append(QUIET)
    page.context.set_offline(True)
    page.locator("#draft").press_sequentially(" Yes")
    page.wait_for_selector("#problem:not([hidden])")
    assert "cannot be reached" in page.inner_text("#problem-words")
    page.context.set_offline(False)
    page.wait_for_selector("#problem", state="hidden")


def test_a_draft_that_is_too_long_is_told_and_kept(advised):
    page = advised("I liked Zorgon (1950).")
    page.watched.allowed.append(QUIET)
    page.fill("#draft", "word " * 5000)
    page.wait_for_selector("#problem:not([hidden])")
    assert "too long" in page.inner_text("#problem-words")
    assert len(page.input_value("#draft")) == 25_000


def test_someone_without_ratings_is_told_so(visit, service):
    page = visit("/")
    page.watched.allowed.append(QUIET)
    page.fill("#key-field", service.token("nobody"))
    page.press("#key-field", "Enter")
    page.wait_for_selector("#problem:not([hidden])")
    assert "no ratings of yours" in page.inner_text("#problem-words")


def test_a_late_answer_to_an_older_draft_is_ignored(advised):
    page = advised("I liked Zorgon (1950).")
    held: list[Any] = []
    page.route("**/api/v1/advice", lambda route: held.append(route) if not held else route.continue_())
    page.fill("#draft", "I liked Zorgon (1950). First")
    page.wait_for_timeout(700)
    assert len(held) == 1
    with page.answering():
        page.fill("#draft", "Nothing at all")
    page.wait_for_selector("#finds", state="hidden")
    held[0].fulfill(status=200, body="{}", content_type="application/json")
    page.wait_for_timeout(300)
    assert not page.is_visible("#finds")


def test_typing_asks_rarely(visit):
    page = visit("/", user=0)
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.locator("#draft").press_sequentially("I liked Zorgon very much indeed.", delay=20)
    page.wait_for_selector("#backdrop mark")
    assert len(asked) <= 3
