"""Find the Chromium that the page tests drive. Run by itself it prints the path, or one line that says how to get it.

Only the standard library is used, because continuous integration asks before anything is installed.
"""

import os
import shutil
import sys
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
PLACES = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
)
MISSING = (
    "The page tests need Chromium: apt-get install chromium (Debian), or .venv/bin/playwright install chromium, "
    "or set TOPOGATE_CHROMIUM to its path."
)


class BrowserMissingError(Exception):
    """No Chromium was found; the message says how to get one."""


def find_chromium() -> str:
    """Return the path of a Chromium: TOPOGATE_CHROMIUM, PATH, the usual places, what playwright has fetched.

    Raises:
        BrowserMissingError: there is none.
    """
    named = os.environ.get("TOPOGATE_CHROMIUM")
    if named:
        if not os.access(named, os.X_OK):
            raise BrowserMissingError(f"TOPOGATE_CHROMIUM: expected a program, found {named!r}")
        return named
    found = [path for path in map(shutil.which, NAMES) if path]
    found += [place for place in PLACES if os.access(place, os.X_OK)]
    found += sorted(str(path) for path in Path.home().glob(".cache/ms-playwright/chromium-*/chrome-linux*/chrome"))
    if not found:
        raise BrowserMissingError(MISSING)
    return found[0]


if __name__ == "__main__":
    try:
        sys.stdout.write(f"{find_chromium()}\n")
    except BrowserMissingError as error:
        sys.exit(str(error))
