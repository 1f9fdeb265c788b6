"""Make sure that there is a Chromium for the tests of the page."""

from __future__ import annotations

import os
import shutil
import sys

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find() -> str | None:
    """Return the path of a Chromium: SASH_BROWSER, or the first one on PATH."""
    wanted = os.environ.get("SASH_BROWSER")
    if wanted:
        return shutil.which(wanted)
    return next((path for path in map(shutil.which, NAMES) if path), None)


def install() -> str | None:
    """Install Debian's Chromium, if that is possible here. Return its path, or None."""
    from debian import install  # beside this file, when it is run; `find` works without

    if os.environ.get("SASH_BROWSER") or not install("chromium", "the tests of the page"):
        return None
    return find()


def main() -> int:
    """Return 0 when there is a browser."""
    if find() or install():
        return 0
    wanted = os.environ.get("SASH_BROWSER")
    if wanted:
        print(f"SASH_BROWSER is {wanted!r}, which is no program that can be run", file=sys.stderr)
    else:
        print(
            "The tests of the page need Chromium. On Debian: apt-get install chromium. "
            "Or set SASH_BROWSER to the path of a Chromium or Chrome.",
            file=sys.stderr,
        )
    return 1


if __name__ == "__main__":
    sys.exit(main())
