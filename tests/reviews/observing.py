"""A topology in force that is observed: the worked example, with 16 ranks in one serving group, and batches of it."""

import json
from datetime import datetime, timedelta
from io import BytesIO
from typing import Any

from django.utils import timezone

from planner.importers import Source
from planner.observations.scrapes import Said
from planner.times import time_text
from reviews.models import Activation, ObservationFeed, ObservationFinding, Person
from reviews.services.observation_scrapes import scrapes_take
from reviews.services.observation_sweeps import findings_lapse
from reviews.services.observations import Taken, observations_take
from tests.planner.observations.batches import level
from tests.reviews.factories import Cast, cast, example_pair, sign
from tests.reviews.rules.test_rule_10_activation import activate, approved

SLOT = "chat/eu-west"
GIB = 2**30
CALM, DRIFTED, FULL = 48 * GIB, 60 * GIB, 79 * GIB
"""Bytes in use as measured, a tenth above that, and above the limit of 64 GiB."""

DCGM = b"""# TYPE DCGM_FI_DEV_FB_USED gauge
DCGM_FI_DEV_FB_USED{gpu="0",Hostname="node-a"} 49152
DCGM_FI_DEV_FB_USED{gpu="1",Hostname="node-a"} 80896
"""
"""A scrape: 48 GiB of device 0 in use, 79 GiB of device 1."""


def observed_cast() -> Cast:
    """The cast with the worked example in force."""
    people = cast()
    activate(people, approved(people, pair=example_pair()))
    return people


def minutes_ago(count: float) -> str:
    """Return a time of documents, so many minutes before now."""
    return time_text(timezone.now() - timedelta(minutes=count))


def after(moment: str, minutes: float) -> str:
    """Return a time of documents, so many minutes after another."""
    return time_text(datetime.fromisoformat(moment) + timedelta(minutes=minutes))


def memory(rank: int, most: float = CALM) -> dict[str, Any]:
    """Return a segment of one rank's memory."""
    return {"rank": rank, "metrics": {"device_used_bytes": level(most)}}


def a_tree(*segments: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """Return the tree of a batch of what is in force; of one rank's memory without segments."""
    subject = Activation.objects.order_by("-pk").values_list("subject", flat=True)[0]
    return {
        "schema": "topogate.observations/v1",
        "slot": SLOT,
        "subject": subject,
        "source": "dcgm",
        "started_at": minutes_ago(10),
        "ended_at": minutes_ago(0),
        "segments": list(segments) or [memory(0)],
        **fields,
    }


def encoded(*segments: dict[str, Any], **fields: Any) -> bytes:
    """Return the bytes of a batch."""
    return json.dumps(a_tree(*segments, **fields)).encode()


def take(people: Cast, *segments: dict[str, Any], who: Person | None = None, **fields: Any) -> Taken:
    """Report as bob unless somebody else is given."""
    return observations_take(actor=who or people.bob, workspace=people.workspace, raw=encoded(*segments, **fields))


def the_feed() -> ObservationFeed:
    """Return the one that there is."""
    return ObservationFeed.objects.get()


def scraped(people: Cast) -> None:
    """Put the first decision of a board into force, and report a scrape of its one device."""
    revision = people.workspace.decisions.get(number=1).revisions.get()
    sign(people, revision)
    sign(people, revision, people.carol, team="networking")
    activate(people, revision)
    said = Said(
        slot=revision.decision.slot,
        subject=revision.planned.subject,
        source="dcgm",
        started_at=minutes_ago(10),
        ended_at=minutes_ago(0),
    )
    scrapes_take(
        actor=people.bob,
        workspace=people.workspace,
        sources=[Source("dcgm.txt", BytesIO(DCGM))],
        said=said,
        given={"rank": ["0=0"]},
    )


def lapsed(people: Cast) -> None:
    """Let a finding of that one device be silent for two days, and sweep."""
    scraped(people)
    at = timezone.now() - timedelta(days=2)
    ObservationFinding.objects.create(
        feed=the_feed(),
        metric="device_used_bytes",
        statistic="max",
        rank=0,
        state="BREACH",
        team="serving",
        opened_at=at,
        last_seen_at=at,
    )
    ObservationFeed.objects.update(breaches=1)
    findings_lapse()
