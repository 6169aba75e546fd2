"""What a reader must know of a map before reading it: differences, dangers, notices. Pure."""

from dataclasses import dataclass

from planner.map_notes import MapNote, map_notes
from planner.records.contract import Contract
from planner.records.evidence import Trial
from reviews.web.formats import count, listed

WORDS: dict[str, tuple[str, str]] = {
    "danger": ("Danger", "unk"),
    "difference": ("Differs", "doc"),
    "notice": ("Notice", "nd"),
}
ORDER = ("danger", "difference", "notice")
SHOWN = 6


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
    """Write the notes of a map, dangers first; None where there is nothing to say."""
    found = sorted(map_notes(contract, trial), key=lambda note: ORDER.index(note.sort))
    if not found:
        return None
    rows = [note_row(note) for note in found]
    return Notes(
        lead=counts_text(found),
        css="unk" if found[0].sort == "danger" else "plain",
        shown=tuple(rows[:SHOWN]),
        more=tuple(rows[SHOWN:]),
    )


def counts_text(notes: list[MapNote]) -> str:
    """Count notes by their sort, for example ``1 danger and 2 notices``."""
    numbers = [(sort, sum(note.sort == sort for note in notes)) for sort in ORDER]
    return listed([count(number, sort) for sort, number in numbers if number])


def note_row(note: MapNote) -> NoteRow:
    """Write one note as a sentence."""
    word, icon = WORDS[note.sort]
    sentence = note.sentence[:1].upper() + note.sentence[1:]
    return NoteRow(
        word=word,
        icon=icon,
        about="" if note.about == "topology" else note.about,
        text=sentence if sentence.endswith((".", "!", "?")) else f"{sentence}.",
    )
