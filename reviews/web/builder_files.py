"""Files on their way from a form into a draft, and what is said of each afterwards."""

from __future__ import annotations

from collections.abc import Iterable

from django.core.files.uploadedfile import UploadedFile

from reviews.services.draft_files import Given, Outcome
from reviews.web.formats import count, listed
from reviews.web.page_rows import Strip

MOST_NAMED = 5


def given_of(upload: UploadedFile[bytes]) -> Given:
    """Return an uploaded file as the services take it; its bytes stay where they are until they are read."""

    def blocks() -> Iterable[bytes]:
        return upload.chunks()

    return Given(upload.name or "unnamed", upload.size or 0, blocks)


def outcome_strips(outcomes: tuple[Outcome, ...]) -> tuple[Strip, ...]:
    """Say what became of files: first what was not taken, with the reason, then what was there already."""
    if not outcomes:
        return ()
    strips = [
        Strip(lead=f"{one.name} is not taken.", text=_why(one), icon="fail-o", css="fail", is_alert=True)
        for one in outcomes
        if one.verdict in ("refused", "unknown")
    ]
    again = [one.name for one in outcomes if one.verdict == "again"]
    if again:
        text = f"{_names(again)}: the same bytes are here already, so nothing was added."
        strips.append(Strip(lead="In the draft already.", text=text, icon="pass", css="plain"))
    taken = sum(one.verdict in ("read", "waiting") for one in outcomes)
    if taken:
        waiting = sum(one.verdict == "waiting" for one in outcomes)
        text = f"{count(waiting, 'large one is', 'large ones are')} being read." if waiting else "Read and grouped."
        strips.append(Strip(lead=f"{count(taken, 'file')} added.", text=text, icon="pass", css="plain"))
    return tuple(strips)


def _why(outcome: Outcome) -> str:
    return " ".join(
        f"No tool that is known writes this: found {one.found}."
        if one.code == "import/format"
        else f"Expected {one.expected}; found {one.found}."
        for one in outcome.problems
    )


def _names(names: list[str]) -> str:
    more = len(names) - MOST_NAMED
    return listed([*names[:MOST_NAMED], *([f"{more} more"] if more > 0 else [])])
