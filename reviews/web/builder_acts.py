"""Forms of the evidence builder's pages as changes of a draft; what the changes mean is the builder's business.

A form of answers numbers its fields: ``f0`` is the question, ``k0`` how its answer looks, ``at0`` for what it is given,
``v0`` (and ``v0.<part>``) what was typed. What was left empty is no answer.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any

from django.http import QueryDict

from planner import strict_json
from planner.errors import DocumentRefusedError
from planner.whole_numbers import whole_number
from reviews import draft_changes as made
from reviews.draft_changes import Change
from reviews.errors import Finding, InvalidRequestError, printable

__all__ = ["ACTS", "changes_of", "typed_answers"]

DEGREES = ("tp", "pp", "ep", "dp", "world_size")
MOST_ANSWERS = 60
NO_JSON = frozenset({"json/syntax", "json/trailing_data"})
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?\Z")
_MINUTES = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}\Z")
_SECONDS = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}:[0-9]{2}\Z")


def changes_of(form: QueryDict) -> tuple[Change, ...]:
    """Return the changes that a form asks for.

    Raises:
        InvalidRequestError: the form asks for nothing that there is, or leaves out what it needs.
    """
    if form.get("unanswer"):
        # A button beside one answer of a form that saves many: it names the answer itself.
        return (made.Unanswer(at=form.get("unanswer", "")),)
    act = ACTS.get(form.get("act", ""))
    if act is None:
        raise _invalid("act", f"one of {', '.join(ACTS)}", form.get("act", ""))
    changes = tuple(act(form))
    if not changes:
        raise _invalid("act", "something chosen or typed", "nothing")
    return changes


def _invalid(name: str, expected: str, found: str) -> InvalidRequestError:
    return InvalidRequestError((Finding("request", "request/change", name, expected, printable(found) or "nothing"),))


def _place(text: str) -> tuple[str, str | None]:
    trial, _, window = text.partition("/")
    return trial, window or None


def _chosen(form: QueryDict, name: str, what: str) -> list[str]:
    found = form.getlist(name)
    if not found:
        raise _invalid(name, f"at least one {what}", "none")
    return found


def _move(form: QueryDict) -> Iterator[Change]:
    runs = _chosen(form, "run", "run")
    trial, window = _place(form.get("to", ""))
    if not trial:
        raise _invalid("to", "a trial or a window", "nothing")
    for run in runs:
        yield made.MoveRun(run=run, trial=trial, window=window, copy="copy" in form)


def _leave_out(form: QueryDict) -> Iterator[Change]:
    for run in _chosen(form, "run", "run"):
        yield made.LeaveOut(run=run, because=form.get("because", "").strip())


def _take_back(form: QueryDict) -> Iterator[Change]:
    for run in _chosen(form, "run", "run"):
        yield made.TakeBack(run=run)


def _held(form: QueryDict) -> Iterator[Change]:
    if form.get("use") not in ("yes", "no"):
        raise _invalid("use", "use it, or not", "neither")
    yield made.DecideHeld(
        run=form.get("run", ""), use=form.get("use") == "yes", because=form.get("because", "").strip()
    )


def _split(form: QueryDict) -> Iterator[Change]:
    places = [_place(text) for text in _chosen(form, "window", "window")]
    trials = sorted({trial for trial, _ in places})
    if len(trials) > 1:
        raise _invalid("window", "windows of one trial", ", ".join(trials))
    windows = tuple(window for _, window in places if window)
    yield made.SplitTrial(trial=trials[0], windows=windows, new=form.get("new", "").strip())


def _new_trial(form: QueryDict) -> Iterator[Change]:
    yield made.NewTrial(trial=form.get("new", "").strip())


def _rename_trial(form: QueryDict) -> Iterator[Change]:
    yield made.RenameTrial(trial=form.get("trial", ""), new=form.get("new", "").strip())


def _merge(form: QueryDict) -> Iterator[Change]:
    yield made.MergeTrials(trial=form.get("into", ""), other=form.get("trial", ""))


def _remove_trial(form: QueryDict) -> Iterator[Change]:
    yield made.RemoveTrial(trial=form.get("trial", ""))


def _new_window(form: QueryDict) -> Iterator[Change]:
    yield made.NewWindow(
        trial=form.get("trial", ""), window=form.get("new", "").strip(), load_point=form.get("load_point", "")
    )


def _window(form: QueryDict) -> Iterator[Change]:
    """Take everything of one window's form: its load point, then its name, which later changes would not find."""
    trial, window = _place(form.get("window", ""))
    if window is None:
        raise _invalid("window", "a window", form.get("window", ""))
    point, name = form.get("load_point", ""), form.get("new", "").strip()
    if point and point != form.get("had", ""):
        yield made.SetLoadPoint(trial=trial, window=window, load_point=point)
    if name and name != window:
        yield made.RenameWindow(trial=trial, window=window, new=name)


def _remove_window(form: QueryDict) -> Iterator[Change]:
    trial, window = _place(form.get("window", ""))
    yield made.RemoveWindow(trial=trial, window=window or "")


def _propose(form: QueryDict) -> Iterator[Change]:
    yield made.ProposeAnew()


def _settle(form: QueryDict) -> Iterator[Change]:
    because, at = form.get("because", "").strip(), form.get("at", "")
    chosen, own = form.get("run", ""), form.get("value", "").strip()
    if own and chosen in ("", "own"):
        yield made.Settle(at=at, because=because, value=_read("json", own, "value"))
    elif chosen and chosen != "own":
        yield made.Settle(at=at, because=because, run=chosen)
    else:
        raise _invalid("run", "the source that counts, or a value of your own", "neither")


def _unsettle(form: QueryDict) -> Iterator[Change]:
    yield made.Unsettle(at=form.get("at", ""))


def _answers(form: QueryDict) -> Iterator[Change]:
    """Take what was typed and what was ticked: they stand in one form, and neither may get lost with the other."""
    yield from _typed_changes(form)
    if form.getlist("field"):
        yield _ticked(form)


def _confirm(form: QueryDict) -> Iterator[Change]:
    _chosen(form, "field", "proposal")
    yield from _answers(form)


def _ticked(form: QueryDict) -> Change:
    fields: list[str] = []
    for chosen in form.getlist("field"):
        # A proposal for several trials names their questions as a list; a pointer never begins with a bracket.
        fields += _pointers(chosen) if chosen.startswith("[") else [chosen]
    return made.Confirm(fields=tuple(fields))


def _pointers(text: str) -> list[str]:
    found = _json(text, "field")
    if not all(isinstance(one, str) for one in found):
        raise _invalid("field", "a list of pointers", text)
    return list(found)


def _typed_changes(form: QueryDict) -> Iterator[Change]:
    for number in range(MOST_ANSWERS):
        field, kind = form.get(f"f{number}", ""), form.get(f"k{number}", "")
        if not field:
            return
        value = _typed(form, number, kind, field)
        if value is not None and form.get(f"was{number}") != _written(form, number):
            yield made.AnswerQuestion(at=form.get(f"at{number}") or field, value=value)


def _written(form: QueryDict, number: int) -> str:
    """Return what was typed for a question as one text, to be compared with what stood there."""
    parts = [name for name in sorted(form) if name.startswith(f"v{number}.")]
    own = form.get(f"v{number}", "").strip().replace("\r\n", "\n")
    return "\n".join([own, *(form.get(name, "") for name in parts)])


def typed_answers(form: QueryDict) -> dict[str, dict[str, str]]:
    """Return question -> what was typed (``""`` for the field itself, else its parts), for a page that refused it."""
    typed: dict[str, dict[str, str]] = {}
    for number in range(MOST_ANSWERS):
        if field := form.get(f"f{number}", ""):
            start = f"v{number}."
            own = {name.removeprefix(start): form.get(name, "") for name in form if name.startswith(start)}
            typed[field] = {"": form.get(f"v{number}", ""), **own}
    return typed


def _typed(form: QueryDict, number: int, kind: str, field: str) -> Any:
    text = form.get(f"v{number}", "").strip()
    if kind == "names":
        start = f"v{number}."
        rows = {name.removeprefix(start): form.get(name, "") for name in form if name.startswith(start)}
        return {name: value for name, value in rows.items() if value} or None
    if kind == "instances" and not text:
        degrees = {name: form.get(f"v{number}.{name}", "").strip() for name in DEGREES}
        if not any(degrees.values()):
            return None
        return [{name: _read("number", value, field) for name, value in degrees.items() if value}]
    return _read(kind, text, field) if text else None


def _read(kind: str, text: str, field: str) -> Any:
    """Read what was typed as a value of its kind; what does not look like one goes on as text, and is refused later.

    Raises:
        InvalidRequestError: JSON is asked for, and it is none.
    """
    if kind in ("count", "number"):
        plain = text.replace(",", "").replace("\N{NARROW NO-BREAK SPACE}", "").replace(" ", "")
        return _json(plain, field) if _NUMBER.match(plain) else text
    if kind == "switch":
        return {"true": True, "false": False}.get(text, text)
    if kind == "time":
        return _time(text)
    if kind == "rank_map" and not text.startswith("["):
        return [_rank(line) for line in text.splitlines() if line.strip()]
    if kind in ("json", "instances", "rank_map"):
        return _json(text, field, is_word_taken=kind == "json" and not text.startswith(("{", "[", '"')))
    return text


def _json(text: str, field: str, *, is_word_taken: bool = False) -> Any:
    """Read JSON as strictly as documents are read: what is taken here has to stand in one later.

    ``is_word_taken``: what is no JSON is text, for nobody types quotation marks around a word.

    Raises:
        InvalidRequestError: it is none, or a value that no document holds.
    """
    try:
        return strict_json.parse(text.encode())
    except DocumentRefusedError as refused:
        if is_word_taken and all(problem.code in NO_JSON for problem in refused.problems):
            return text
        raise InvalidRequestError(
            tuple(Finding.of(problem, "request", pointer=f"{field}{problem.pointer}") for problem in refused.problems)
        ) from refused


def _time(text: str) -> str:
    """Return a time with its seconds and zone; a field of a browser gives minutes, and every time here is UTC."""
    if _MINUTES.match(text):
        return f"{text.replace(' ', 'T')}:00Z"
    return f"{text.replace(' ', 'T')}Z" if _SECONDS.match(text) else text


def _rank(line: str) -> dict[str, Any]:
    """Read one line of a rank map: rank, node, device, and the NIC where it has one."""
    words = line.split()
    keys = ("rank", "node", "device", "nic")
    entry: dict[str, Any] = dict(zip(keys, words, strict=False))
    rank = whole_number(words[0])
    if rank is not None:
        entry["rank"] = rank
    if len(words) > len(keys):
        entry["more"] = " ".join(words[len(keys) :])
    return entry


ACTS: dict[str, Callable[[QueryDict], Iterator[Change]]] = {
    "answers": _answers,
    "confirm": _confirm,
    "held": _held,
    "leave_out": _leave_out,
    "merge": _merge,
    "move": _move,
    "new_trial": _new_trial,
    "new_window": _new_window,
    "propose": _propose,
    "remove_trial": _remove_trial,
    "remove_window": _remove_window,
    "rename_trial": _rename_trial,
    "settle": _settle,
    "split": _split,
    "take_back": _take_back,
    "unsettle": _unsettle,
    "window": _window,
}
