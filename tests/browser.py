"""A headless Chromium for tests of the report page, where the machine has one."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Error, Page, TimeoutError, sync_playwright

NAMES = (
    *("chromium-headless-shell", "chromium", "chromium-browser"),
    *("google-chrome", "google-chrome-stable", "chrome"),
)
READY = "html[data-ready]"


@contextmanager
def chromium() -> Iterator[Browser]:
    """Playwright's own browser, or one of the machine; skips the test where there is neither."""
    with sync_playwright() as playwright:
        paths = [None, *filter(None, map(shutil.which, NAMES))]
        for path in paths:
            with suppress(Error):
                browser = playwright.chromium.launch(executable_path=path)
                break
        else:
            pytest.skip("no Chromium: apt-get install chromium-headless-shell brings one")
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def opened(browser: Browser, file: Path, *, hash: str = "", **options: Any) -> Iterator[Page]:
    """The page, ready; afterwards no error may stand in its console, and nothing was loaded."""
    complaints: list[str] = []
    asked: list[str] = []
    page = browser.new_page(**{"viewport": {"width": 1360, "height": 900}, **options})
    page.on("console", lambda said: complaints.append(f"{said.type}: {said.text}"))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    try:
        page.goto(f"{file.resolve().as_uri()}{hash}")
        with suppress(TimeoutError):
            page.wait_for_selector(READY, state="attached", timeout=30_000)
        assert page.locator(READY).count(), complaints
        yield page
        assert complaints == []
        assert asked == [file.resolve().as_uri()]
    finally:
        page.close()
