"""Make the picture of the advisor that README shows: ``python -m tests.service.browser.picture docs/advisor.png``."""

import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from tests.service.browser.serving import served

DRAFT = (
    "Anyone else still thinking about Moths over Tallinn? I would put it beside Salt and Ember, and above Nine Winters."
)


def make(path):
    with tempfile.TemporaryDirectory() as folder, served(Path(folder)) as service, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1000, "height": 1080}, reduced_motion="reduce")
        page.goto(f"{service.origin}/#token={service.token(0)}")
        page.fill("#draft", DRAFT)
        page.wait_for_selector("#help-main button")
        page.evaluate("document.activeElement.blur()")
        page.evaluate("document.documentElement.style.setProperty('--shadow', 'none')")  # keeps the file small
        page.wait_for_timeout(500)
        page.screenshot(path=path, clip={"x": 16, "y": 76, "width": 968, "height": 985})
        browser.close()


if __name__ == "__main__":
    make(sys.argv[1])
