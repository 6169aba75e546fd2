"""Worlds that the tests of a file start from: each is made once and undone after the file, not once for every test.

A world is a row of makers, each of which adds to what those before it made. Every maker runs in a savepoint of its own
inside one transaction, and a test's own transaction lies inside that, so a test leaves its world as it found it.
"""

import copy
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.db import transaction
from pytest_django.plugin import DjangoDbBlocker

from reviews.models import Decision
from tests.reviews.factories import Cast, cast, example_pair, planned

Maker = Callable[..., Any]
STAGE = pytest.StashKey["Stage"]()


class Stage:
    """The worlds of one file; the one that the last test used stands until a test asks for another, or for none."""

    def __init__(self) -> None:
        self.file = ""
        self._standing: list[tuple[Maker, transaction.Atomic, Any]] = []

    def stand(self, *makers: Maker) -> None:
        """Let this world stand: keep what it shares with the one that stands, undo the rest, make what is missing."""
        standing = [maker for maker, _, _ in self._standing]
        kept = next(n for n in range(len(makers), -1, -1) if standing[:n] == list(makers[:n]))
        self.clear(down_to=kept)
        for maker in makers[kept:]:
            block = transaction.atomic()
            block.__enter__()
            try:
                made = maker(*(below for _, _, below in self._standing))
            except BaseException:
                undo(block)
                raise
            self._standing.append((maker, block, made))

    def clear(self, *, down_to: int = 0) -> None:
        """Undo what was made last, until so many makers are left."""
        while len(self._standing) > down_to:
            undo(self._standing.pop()[1])

    def made(self, maker: Maker) -> Any:
        """Return a copy of what a maker of the standing world returned, for one test to change as it likes."""
        return copy.deepcopy(next(made for known, _, made in self._standing if known is maker))


def clear_stage(config: pytest.Config, blocker: DjangoDbBlocker) -> None:
    """Let no world stand, for what comes now is done over another connection."""
    if (stage := config.stash.get(STAGE, None)) is not None:
        with blocker.unblock():
            stage.clear()


def undo(block: transaction.Atomic) -> None:
    """Leave a transaction as if nothing in it had been written."""
    transaction.set_rollback(True)
    block.__exit__(None, None, None)


def worked_decision(people: Cast) -> Decision:
    """Plan the worked example."""
    return planned(people, pair=example_pair()).decision


def smallest_decision(people: Cast) -> Decision:
    """Plan the smallest decision: one device, one trial."""
    return planned(people).decision


DECISIONS: dict[str, Maker] = {"worked": worked_decision, "decided": smallest_decision}


@pytest.fixture(scope="session")
def stage(request: pytest.FixtureRequest, django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Stage]:
    """The stage, from the first test on that starts from a world."""
    stage = Stage()
    request.config.stash[STAGE] = stage
    yield stage
    with django_db_blocker.unblock():
        stage.clear()


@pytest.fixture(scope="module")
def casting() -> Maker:
    """What makes the people of a file; a file with other people has a fixture of this name."""
    return cast


@pytest.fixture
def world(stage: Stage, db: None) -> Stage:
    """What a test asks for by the names of its fixtures, inside the transaction of the test."""
    return stage


@pytest.fixture(scope="class", autouse=True)  # of a function alone: for each test, before its transaction begins
def world_before_the_test(request: pytest.FixtureRequest, casting: Maker, django_db_blocker: DjangoDbBlocker) -> None:
    """Let stand what a test starts from; a test without a world finds an empty database, as ever."""
    makers: tuple[Maker, ...] = ()
    if "world" in request.fixturenames:
        stage = request.getfixturevalue("stage")
        makers = (casting, *(maker for name, maker in DECISIONS.items() if name in request.fixturenames))
    elif (stage := request.config.stash.get(STAGE, None)) is None:
        return
    with django_db_blocker.unblock():
        if stage.file != request.path.as_posix():
            stage.clear()
            stage.file = request.path.as_posix()
        stage.stand(*makers)


@pytest.fixture
def people(world: Stage, casting: Maker) -> Cast:
    """A workspace with alice, bob, carol, dave and audrey; charlie is a stranger."""
    made: Cast = world.made(casting)
    return made


@pytest.fixture
def worked(world: Stage, people: Cast) -> Decision:
    """The worked example, planned."""
    made: Decision = world.made(worked_decision)
    return made


@pytest.fixture
def decided(world: Stage, people: Cast) -> Decision:
    """The smallest decision: one device, one trial, planned."""
    made: Decision = world.made(smallest_decision)
    return made
