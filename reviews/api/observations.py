"""What production did, as a batch or as scrapes of exporters: taken, and answered with what is out of its envelope."""

from collections.abc import Iterator
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from planner.importers import Source
from planner.observations.scrapes import MAPPINGS, Said
from reviews.api.authentication import actor, trace_of
from reviews.api.base import WorkspaceView
from reviews.api.documentation import CHECKING, DOCUMENT, body, refusals
from reviews.api.parts import check_outer_form, unknown_parts
from reviews.api.rows import Links
from reviews.api.serializers_observations import ObservationsTaken
from reviews.api.throttles import ObserveThrottle
from reviews.errors import Finding, InvalidRequestError, printable
from reviews.services.observation_scrapes import scrapes_take
from reviews.services.observations import Taken, observations_take

SAID = ("slot", "subject", "source", "started_at", "ended_at")
MOST_SCRAPES = 2
TEXT = {"type": "string"}
PLACED = {
    name: {"type": "array", "items": {**TEXT, "description": form}, "description": "of scrapes: where series belong"}
    for name, form in MAPPINGS.items()
}
PARTS = body(
    (),
    observations=DOCUMENT | {"description": "`topogate.observations/v1`; instead of scrapes"},
    scrapes={"type": "array", "items": DOCUMENT, "maxItems": MOST_SCRAPES, "description": "Prometheus texts"},
    **{name: TEXT | {"description": "of scrapes"} for name in SAID},
    **PLACED,
)


class Observations(WorkspaceView):
    """What production did."""

    token_scope = "report"  # noqa: S105 - the name of a scope
    throttle_classes = (ObserveThrottle,)

    @extend_schema(
        operation_id="observations_take",
        request=PARTS,
        responses={200: ObservationsTaken, 201: ObservationsTaken, **refusals(*CHECKING)},
    )
    def post(self, request: Request, workspace: str) -> Response:
        """Take a batch, or two scrapes of one exporter with what they do not say; the same again changes nothing."""
        check_outer_form(request)
        _require_parts(request)
        trace = trace_of(request)
        who: dict[str, Any] = {"actor": actor(request), "workspace": self.space, "trace": trace}
        notes: tuple[str, ...] = ()
        if "observations" in request.FILES:
            found = observations_take(raw=bytes(request.FILES["observations"].read()), **who)
        else:
            files = request.FILES.getlist("scrapes")
            found, notes = scrapes_take(
                sources=[Source(printable(file.name or "scrape", 80), file) for file in files],
                said=Said(**{name: str(request.POST[name]) for name in SAID}),
                given={name: [str(text) for text in request.POST.getlist(name)] for name in MAPPINGS},
                **who,
            )
        value = taken_value(found, notes, self.links)
        return Response(ObservationsTaken(value).data, status=201 if found.is_new else 200)


def taken_value(found: Taken, notes: tuple[str, ...], links: Links) -> dict[str, Any]:
    """Return what became of a batch as the API shows it."""
    batch = found.batch
    return {
        "decision": found.decision,
        "revision": found.revision,
        "subject": found.subject,
        "source": found.source,
        "sha256": batch.sha256,
        "is_new": found.is_new,
        "is_judged": found.is_judged,
        "started_at": batch.started_at,
        "ended_at": batch.ended_at,
        "segments": batch.segments,
        "values": batch.values_count,
        "breaches": batch.breaches,
        "drifts": batch.drifts,
        "open_breaches": found.open_breaches,
        "open_drifts": found.open_drifts,
        "findings": list(found.standing),
        "left_out": list(notes),
        "page": links.to("decision-detail", found.decision),
    }


def _require_parts(request: Request) -> None:
    """Raise InvalidRequestError with every part that is missing or not taken here."""
    problems = tuple(_part_problems(request))
    if problems:
        raise InvalidRequestError(problems)


def _part_problems(request: Request) -> Iterator[Finding]:
    count = len(request.FILES.getlist("scrapes"))
    if count:
        yield from (_missing(name, "what the scrapes do not say") for name in SAID if name not in request.POST)
        if count > MOST_SCRAPES:
            yield Finding("request", "request/repeated_part", "scrapes", f"at most {MOST_SCRAPES} files", f"{count}")
        yield from unknown_parts(request, files=("scrapes",), fields=(*SAID, *MAPPINGS))
        return
    if "observations" not in request.FILES:
        yield _missing("observations", "a file in a part named observations, or scrapes")
    yield from unknown_parts(request, files=("observations",), fields=())


def _missing(name: str, expected: str) -> Finding:
    return Finding("request", "request/missing_part", name, expected, "nothing")
