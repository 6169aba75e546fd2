"""What a reader must know of a map before reading it: differences, dangers, notices. Pure."""

from dataclasses import dataclass

from planner.map_notes import map_notes
from planner.records.contract import Contract
from planner.records.evidence import Trial
from reviews.web.formats import count, listed, spans

WORDS: dict[str, tuple[str, str]] = {
    "danger": ("Danger", "unk"),
    "difference": ("Differs", "doc"),
    "notice": ("Notice", "nd"),
}
ORDER = ("danger", "difference", "notice")
SHOWN = 6
INSTANCE = "instance "
"""How a note begins to say which instance it is about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteRow:
    """One note with its word and icon."""

    word: str
    icon: str
    about: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Notes:
    """All notes of a map; ``lead`` counts them, ``more`` are those that are folded away."""

    lead: str
    css: str
    shown: tuple[NoteRow, ...]
    more: tuple[NoteRow, ...]


def notes_of(contract: Contract, trial: Trial) -> Notes | None:
    """Write the notes of a map, dangers first; what is the same of several instances is one. None without any."""
    found: dict[tuple[str, str], list[str]] = {}
    for note in sorted(map_notes(contract, trial), key=lambda note: ORDER.index(note.sort)):
        found.setdefault((note.sort, note.sentence), []).append(note.about)
    if not found:
        return None
    rows = [note_row(sort, sentence, abouts) for (sort, sentence), abouts in found.items()]
    sorts = [sort for sort, _ in found]
    return Notes(
        lead=listed([count(sorts.count(sort), sort) for sort in ORDER if sort in sorts]),
        css="unk" if sorts[0] == "danger" else "plain",
        shown=tuple(rows[:SHOWN]),
        more=tuple(rows[SHOWN:]),
    )


def note_row(sort: str, sentence: str, abouts: list[str]) -> NoteRow:
    """Write one note as a sentence, with what it is about."""
    word, icon = WORDS[sort]
    text = sentence[:1].upper() + sentence[1:]
    instances = tuple(int(about.removeprefix(INSTANCE)) for about in abouts if about.startswith(INSTANCE))
    others = [about for about in dict.fromkeys(abouts) if not about.startswith(INSTANCE) and about != "topology"]
    about = f"instance{'s' * (len(instances) > 1)} {spans(instances)}" if instances else ""
    return NoteRow(
        word=word,
        icon=icon,
        about=", ".join([*([about] if about else []), *others]),
        text=text if text.endswith((".", "!", "?")) else f"{text}.",
    )
