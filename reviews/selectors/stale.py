"""Why decisions are stale: the keys that a report found to differ, or the waiver that lapsed."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.db.models import F

from reviews.models import Decision, IdentityReport
from reviews.policies.host_reports import WHOLE_NAME
from reviews.selectors.reported_keys import keys_from

NAMED = 3
"""Keys that the sentence names."""


@dataclass(frozen=True, slots=True)
class Cause:
    """What made a decision stale, in a sentence; ``keys`` are those that differed."""

    because: str
    keys: tuple[str, ...] = ()


def stale_causes(decisions: Iterable[Decision]) -> Mapping[int, Cause]:
    """Return decision id -> why it is stale, of those that a report made so; one query."""
    rows = IdentityReport.objects.filter(
        decision__in=[decision.pk for decision in decisions], reported_at=F("decision__state_since")
    ).exclude(differences="")
    named: dict[int, dict[str, str]] = {}
    places: dict[int, dict[str, None]] = {}
    for decision, place, text in rows.order_by("pk").values_list("decision_id", "place", "differences"):
        if decision is not None:
            named.setdefault(decision, {}).update((one.key, one.team) for one in keys_from(text))
            places.setdefault(decision, {})[place or WHOLE_NAME] = None
    return {decision: _cause(list(places[decision]), keys) for decision, keys in named.items()}


def _cause(places: list[str], keys: Mapping[str, str]) -> Cause:
    told = [f"{key} ({team})" for key, team in list(keys.items())[:NAMED]]
    more = f" and {len(keys) - NAMED} more" if len(keys) > NAMED else ""
    who = places[0] if len(places) == 1 else f"{places[0]} and {len(places) - 1} more"
    return Cause(f"Not as decided on {who}: {', '.join(told)}{more}.", tuple(keys))
