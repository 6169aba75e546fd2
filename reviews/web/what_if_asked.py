"""What is asked of the what-if page: overrides in its address, from its form, and as a command. Pure.

Rules kept: an address holds overrides as the command line writes them, so that page, API and command line take the
same text; what a form sends becomes such an address before anything of it is judged, and nothing typed is dropped.
"""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from urllib.parse import urlencode

from django.http import QueryDict

from planner.docket import ALWAYS
from planner.overrides import Reading
from planner.overrides.text import reading_text, setting_text
from planner.records.plan import Flip, Plan
from reviews.selectors.what_if import Asked

FORM = ("set_at", "set_value", "reading_trial", "reading_limit", "reading_value")
"""Fields that the form sends in step, one of each for every row; an address of the page has none of them."""
SAFE = "~/:=."


@dataclass(frozen=True, slots=True)
class SetText:
    """A value of the contract as far as it can be read: the pointer and what was typed."""

    text: str
    at: str
    value: str

    @classmethod
    def of(cls, text: str) -> "SetText":
        """Take the text apart."""
        at, _, value = text.partition("=")
        return cls(text, at, value)


@dataclass(frozen=True, slots=True)
class ReadingText:
    """A reading as far as it can be read: the trial, ``gate.limit`` and what was typed."""

    text: str
    trial: str
    limit: str
    value: str

    @classmethod
    def of(cls, text: str) -> "ReadingText":
        """Take the text apart."""
        place, equals, value = text.rpartition("=")
        trial, _, limit = (place if equals else text).partition(":")
        return cls(text, trial, limit, value if equals else "")

    @property
    def name(self) -> str:
        """Trial and limit, as problems name them."""
        return f"{self.trial}:{self.limit}"


def asked_of(query: QueryDict) -> Asked:
    """Return the overrides of an address."""
    return Asked(
        tuple(query.getlist("set")), tuple(filter(None, query.getlist("without"))), tuple(query.getlist("reading"))
    )


def is_form(query: QueryDict) -> bool:
    """Say whether the form was sent, so that its fields are to become an address."""
    return any(name in query for name in FORM)


def asked_of_form(query: QueryDict) -> Asked:
    """Return the overrides of the form; a row in which nothing was chosen and nothing typed is none."""
    sets = zip_longest(query.getlist("set_at"), query.getlist("set_value"), fillvalue="")
    readings = zip_longest(*(query.getlist(name) for name in FORM[2:]), fillvalue="")
    return Asked(
        (*query.getlist("set"), *(f"{at}={value.strip()}" for at, value in sets if at or value.strip())),
        tuple(filter(None, query.getlist("without"))),
        (
            *query.getlist("reading"),
            *(
                f"{trial}:{limit}={value.strip()}"
                for trial, limit, value in readings
                if trial or limit or value.strip()
            ),
        ),
    )


def address(asked: Asked, revision: str = "", **more: int | None) -> str:
    """Return the query of an address that asks for these overrides, to be shared; empty where it holds nothing."""
    pairs = [("revision", revision)] if revision else []
    pairs += [("set", text) for text in asked.sets]
    pairs += [("without", text) for text in asked.withouts]
    pairs += [("reading", text) for text in asked.readings]
    pairs += [(name, str(value)) for name, value in more.items() if value is not None]
    return f"?{urlencode(pairs, safe=SAFE)}" if pairs else "?"


def without_one(asked: Asked, kind: str, place: int) -> Asked:
    """Return the overrides without one of them."""
    parts = {"set": asked.sets, "without": asked.withouts, "reading": asked.readings}
    parts[kind] = parts[kind][:place] + parts[kind][place + 1 :]
    return Asked(parts["set"], parts["without"], parts["reading"])


def command_of(asked: Asked, as_of: str) -> str:
    """Return the command that answers the same of the two files."""
    words: list[str] = ["topogate", "what-if", "contract.json", "evidence.json", "--as-of", as_of]
    named: Sequence[tuple[str, tuple[str, ...]]] = (
        ("--set", asked.sets),
        ("--without", asked.withouts),
        ("--reading", asked.readings),
    )
    # An option's value may begin with a dash, so it is joined to its option.
    words += [f"{option}={text}" for option, texts in named for text in texts]
    return shlex.join(words)


def asked_of_flip(flip: Flip, plan: Plan) -> Asked | None:
    """Return a flip as overrides; None where no limit of the contract holds what it changes."""
    limit_id = flip.limit_id or ALWAYS
    candidate = plan.candidates.get(flip.trial or "")
    gate = candidate.gates.get(flip.gate) if candidate else None
    outcome = gate.limits.get(limit_id) if gate else None
    if outcome is None or not isinstance(flip.new, int | float) or isinstance(flip.new, bool):
        return None
    if flip.kind == "limit":
        return Asked(sets=(setting_text(outcome.limit_at, flip.new),)) if outcome.limit_at else None
    reading = Reading(trial=flip.trial or "", gate=flip.gate, limit_id=limit_id, value=flip.new)
    return Asked(readings=(reading_text(reading),))
