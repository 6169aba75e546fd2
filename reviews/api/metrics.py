"""What holds in every slot as metrics of Prometheus: its text format 0.0.4, or OpenMetrics where the client takes it.

Rules kept: names and labels stay; every slot has one decision that speaks for it; a label holds what documents bound
(slot, topology, trial, gate) and never what people typed. The text is written by Prometheus's own client.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from django.http import HttpResponse
from django.utils.cache import patch_vary_headers
from drf_spectacular.utils import OpenApiResponse, extend_schema
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric, StateSetMetricFamily
from prometheus_client.openmetrics import exposition as openmetrics
from prometheus_client.registry import Collector
from rest_framework.request import Request

from reviews.api.authentication import actor
from reviews.api.base import WorkspaceView
from reviews.api.documentation import READING, refusals
from reviews.api.queries import read_query
from reviews.models import DecisionState
from reviews.selectors.slots_now import DecisionNow, workspace_slots

TEXT = "text/plain; version=0.0.4; charset=utf-8"
OPENMETRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"


class Metrics(WorkspaceView):
    """The metrics of a workspace."""

    @extend_schema(
        operation_id="metrics_read",
        responses={
            (200, "text/plain"): OpenApiResponse({"type": "string"}, description="Prometheus text format 0.0.4"),
            (200, "application/openmetrics-text"): OpenApiResponse({"type": "string"}, description="OpenMetrics 1.0"),
            **refusals(*READING),
        },
    )
    def get(self, request: Request, workspace: str) -> HttpResponse:
        """Return what holds in every slot as of now, to be scraped with a token that may read."""
        read_query(request.GET, {})
        slots = workspace_slots(actor=actor(request), workspace=self.space)
        registry = CollectorRegistry(auto_describe=False)
        registry.register(Slots(self.space.slug, slots))
        wants_openmetrics = "application/openmetrics-text" in request.META.get("HTTP_ACCEPT", "")
        write, content_type = (
            (openmetrics.generate_latest, OPENMETRICS) if wants_openmetrics else (generate_latest, TEXT)
        )
        response = HttpResponse(
            write(registry), content_type=content_type, headers={"X-Content-Type-Options": "nosniff"}
        )
        patch_vary_headers(response, ("Accept",))
        return response


class Slots(Collector):
    """The metrics of slots, each with the decision that speaks for it."""

    def __init__(self, workspace: str, slots: Sequence[DecisionNow]) -> None:
        self._workspace, self._slots = workspace, slots

    def describe(self) -> Iterable[Metric]:
        """Name nothing beforehand: the registry holds this collector alone."""
        return ()

    def collect(self) -> Iterator[Metric]:
        """Yield every metric, whether or not a slot has a value of it."""
        yield from self._states()
        yield from self._ends()
        yield from self._reports()
        yield from self._observed()

    def _states(self) -> Iterator[Metric]:
        labels = ("workspace", "slot", "decision", "revision", "topology")
        in_force = GaugeMetricFamily(
            "topogate_slot_in_force", "Whether a decision holds in the slot now.", labels=labels
        )
        emergency = _gauge("topogate_slot_emergency", "Whether what holds went past the review, as an emergency.")
        state = StateSetMetricFamily(
            "topogate_slot_state",
            "State of the decision that speaks for the slot, as of now.",
            labels=("workspace", "slot"),
        )
        for one in self._slots:
            activation = one.activation
            revision = str(activation.revision.number) if activation else ""
            topology = activation.topology if activation else ""
            in_force.add_metric((*self._labels(one), revision, topology), one.holds)
            emergency.add_metric(self._labels(one), one.holds and one.state.state == DecisionState.EMERGENCY)
            states = {name: name == one.state.state for name in DecisionState.values}
            state.add_metric((self._workspace, one.decision.slot), states)
        yield from (in_force, emergency, state)

    def _ends(self) -> Iterator[Metric]:
        until = _gauge(
            "topogate_decision_valid_until_timestamp_seconds", "When what holds ends by itself; absent without an end."
        )
        waivers = GaugeMetricFamily(
            "topogate_waiver_end_timestamp_seconds",
            "When a waiver that the decision rests on ends.",
            labels=("workspace", "slot", "decision", "trial", "gate"),
        )
        for one in self._slots:
            if one.holds:
                _add(until, self._labels(one), one.activation.valid_until if one.activation else None)
            for row in one.waivers:
                _add(waivers, (*self._labels(one), row.trial, row.gate), row.ends_at)
        yield from (until, waivers)

    def _reports(self) -> Iterator[Metric]:
        matches = _gauge(
            "topogate_slot_identity_matches",
            "Whether no host whose report counts now differs from what was decided; absent while none counts.",
        )
        hosts = _gauge("topogate_slot_identity_hosts", "Hosts whose report counts now.")
        differing = _gauge("topogate_slot_identity_hosts_differing", "Those of them that are not as decided.")
        at = _gauge("topogate_slot_identity_report_timestamp_seconds", "When a host of the slot was reported last.")
        for one in self._slots:
            if one.reported.hosts:
                matches.add_metric(self._labels(one), one.reported.differing == 0)
            hosts.add_metric(self._labels(one), one.reported.hosts)
            differing.add_metric(self._labels(one), one.reported.differing)
            _add(at, self._labels(one), one.reported.last_at)
        yield from (matches, hosts, differing, at)

    def _observed(self) -> Iterator[Metric]:
        breaches = _gauge("topogate_slot_observed_breaches", "Observed values beyond a limit of the contract now.")
        drifts = _gauge("topogate_slot_observed_drifts", "Observed values that drifted from the evidence now.")
        at = _gauge("topogate_slot_observed_timestamp_seconds", "Until when production was reported.")
        for one in self._slots:
            if one.findings.last_batch_at is not None:
                breaches.add_metric(self._labels(one), one.findings.breaches)
                drifts.add_metric(self._labels(one), one.findings.drifts)
                _add(at, self._labels(one), one.findings.last_batch_at)
        yield from (breaches, drifts, at)

    def _labels(self, one: DecisionNow) -> tuple[str, str, str]:
        return self._workspace, one.decision.slot, one.decision.label


def _gauge(name: str, text: str) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, text, labels=("workspace", "slot", "decision"))


def _add(metric: GaugeMetricFamily, labels: Sequence[str], at: datetime | None) -> None:
    if at is not None:
        metric.add_metric(labels, at.timestamp())
