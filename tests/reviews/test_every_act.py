"""Every public function of the services: which entry it writes, and that none of them is forgotten.

The functions are found in the modules themselves; a new one belongs in a table of ``acts``. While every form and every
request of the API is sent once, each outermost call of an act is watched: what it appended is what its row says. Then
an auditor, who changes nothing, calls the same: the refusal is the one entry.
"""

import importlib
import inspect
import pkgutil
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from types import CodeType, FrameType
from typing import Any

import pytest
from django.db import transaction
from django.urls import reverse

from reviews import services
from reviews.errors import ReviewError
from reviews.models import AuditEntry
from tests.api.test_every_write import ROWS
from tests.reviews.acts import ACTS, NO_ACTS
from tests.reviews.acts_by_itself import by_itself
from tests.reviews.factories import Cast, planned
from tests.reviews.rules.board import board
from tests.web.accounts import PASSWORD
from tests.web.writes import ACTS as FORMS

pytestmark = pytest.mark.django_db

Actions = tuple[str, ...]


def functions() -> dict[str, Callable[..., Any]]:
    """Return every public function of the services by module and name."""
    found: dict[str, Callable[..., Any]] = {}
    for info in pkgutil.iter_modules(services.__path__):
        module = importlib.import_module(f"{services.__name__}.{info.name}")
        for name, value in vars(module).items():
            if inspect.isfunction(value) and value.__module__ == module.__name__ and not name.startswith("_"):
                found[f"{info.name}.{name}"] = value
    return found


def test_every_public_function_of_the_services_is_in_a_table() -> None:
    known = ACTS.keys() | NO_ACTS
    found = functions().keys()
    assert (found - known, known - found, ACTS.keys() & NO_ACTS) == (set(), set(), set())


@dataclass
class Watch:
    """Sees outermost calls of acts. ``wrote`` holds what each appended, ``called`` the last arguments of each."""

    names: dict[CodeType, str]
    wrote: dict[str, set[Actions]] = field(default_factory=lambda: defaultdict(set))
    called: dict[str, dict[str, Any]] = field(default_factory=dict)
    outermost: FrameType | None = None
    newest: int = 0

    def __call__(self, frame: FrameType, event: str, value: object) -> None:
        """Take one event of the interpreter."""
        if event == "call" and self.outermost is None and frame.f_code in self.names:
            self.outermost, self.newest = frame, unwatched(newest)
            arguments = frame.f_code.co_varnames[: frame.f_code.co_argcount + frame.f_code.co_kwonlyargcount]
            self.called[self.names[frame.f_code]] = {name: frame.f_locals[name] for name in arguments}
        elif event == "return" and frame is self.outermost:
            self.outermost = None
            wrote = unwatched(lambda: since(self.newest))
            if wrote and not wrote[0].endswith("refused"):
                self.wrote[self.names[frame.f_code]].add(wrote)


def newest() -> int:
    return AuditEntry.objects.order_by("-pk").values_list("pk", flat=True).first() or 0


def since(pk: int) -> Actions:
    return tuple(AuditEntry.objects.filter(pk__gt=pk).order_by("pk").values_list("action", flat=True))


def unwatched(ask: Callable[[], Any]) -> Any:
    watching = sys.getprofile()
    sys.setprofile(None)
    try:
        return ask()
    finally:
        sys.setprofile(watching)


@contextmanager
def watched() -> Iterator[Watch]:
    known = functions()
    watch = Watch({inspect.unwrap(known[name]).__code__: name for name in ACTS})
    sys.setprofile(watch)
    try:
        yield watch
    finally:
        sys.setprofile(None)


def refused(people: Cast, name: str, arguments: dict[str, Any]) -> Actions | None:
    """Call an act as the auditor; return what that wrote, None where nobody is asked who acts."""
    if "actor" in arguments and arguments["actor"] is not None and "workspace" in arguments:
        asked = {**arguments, "actor": people.audrey}
    elif "asker" in arguments:
        asked = {**arguments, "asker": replace(arguments["asker"], person=people.audrey)}
    else:
        return None
    before = newest()
    try:
        functions()[name](**asked)
    except ReviewError:
        return since(before)
    return ()


def test_every_act_writes_its_entry_and_every_refusal_one(db: None, settings: Any) -> None:
    settings.WEBHOOK_HOSTS = ["hooks.example.org"]
    answers: dict[str, Actions] = {}
    with watched() as watch:
        people = board()
        planned(people)
        people.bob.set_password(PASSWORD)
        people.bob.save()
        for story in stories(people):
            with transaction.atomic():
                watch.called.clear()
                story()
                for name, arguments in watch.called.items():
                    if ACTS[name].refused and name not in answers:
                        found = unwatched(partial(refused, people, name, arguments))
                        answers |= {} if found is None else {name: found}
                transaction.set_rollback(True)
    assert watch.wrote == {name: set(act.writes) for name, act in ACTS.items()}
    assert answers == {name: (act.refused,) for name, act in ACTS.items() if act.refused}


def stories(people: Cast) -> Iterator[Callable[[], Any]]:
    """Yield everything that is done: forms, requests of the API, and what the product does by itself."""
    for name, (prepare, _) in FORMS.items():
        yield partial(send, name, prepare, people)
    for ask, _ in ROWS.values():
        yield partial(request, ask, people)
    yield from by_itself(people)


def send(name: str, prepare: Callable[[Cast], Any], people: Cast) -> None:
    client, args, form = prepare(people)
    client.post(reverse(name, args=args), form)


def request(prepare: Callable[[Cast], Any], people: Cast) -> None:
    prepare(people)()
