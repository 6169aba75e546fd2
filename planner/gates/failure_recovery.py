"""Recovery: what injected faults did, how long they lasted, and what the others felt.

Rules kept: only an injection on this trial counts, at the load point and of the domain that the limit names (the loss
of a node proves nothing of a rack); the worst of several decides. A group of more than one rank owes a slow rank and
the loss of a rank, unless the contract says why they were not tested.
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import ClassVar

from msgspec.structs import replace

from planner.compare import Comparison, compare
from planner.figures import grouped
from planner.gates.base import WHOLE_TRIAL, Ask, Finding, Limit, compared, gate, not_applicable
from planner.gates.slo import Statistic
from planner.gates.wording import apart, counted, ms, why
from planner.numbers import exact
from planner.readings import STATISTICS, Reading, Sample, number
from planner.records.base import UNSET, Count, Id, Number, Prose, UnsetType
from planner.records.evidence import Injection, Statistics
from planner.records.trials import InjectionKind
from planner.view import TrialView

FAMILY = "failure"
GROUP_FAULTS = frozenset({"slow_rank", "slow_link", "rank_loss", "communicator_teardown"})
"""Faults that a serving group of one rank does not have."""
OWED: tuple[InjectionKind, ...] = ("slow_rank", "rank_loss")
FIELDS: Mapping[str, tuple[str, str, str]] = {
    "max_detect_s": ("detect_s", "s", "was noticed after"),
    "max_first_token_s": ("first_token_s", "s", "let tokens come again after"),
    "max_floor_rate_s": ("floor_rate_s", "s", "let the floor be reached again after"),
    "max_requests_failed": ("requests_failed", "requests", "failed"),
    "max_requests_partial": ("requests_partial", "requests", "broke off"),
    "max_survivor_ttft_ms": ("survivors/ttft_ms", "ms", "left the others a TTFT of"),
    "max_survivor_e2e_ms": ("survivors/e2e_ms", "ms", "left the others an E2E of"),
}
"""Field of the limit -> (field of an injection, unit, words)."""


class RecoveryLimit(Limit, frozen=True, kw_only=True):
    """A ceiling for one effect of one kind of fault, or the reason why that fault was not tested.

    ``statistic`` is that of the survivors' latencies. Seconds count from the fault.
    """

    one_of: ClassVar[tuple[str, ...]] = (*FIELDS, "not_tested_because")

    injection: InjectionKind
    domain_kind: Id | UnsetType = UNSET
    load_point: Id | UnsetType = UNSET
    statistic: Statistic = "p99"
    max_detect_s: Number | UnsetType = UNSET
    max_first_token_s: Number | UnsetType = UNSET
    max_floor_rate_s: Number | UnsetType = UNSET
    max_requests_failed: Count | UnsetType = UNSET
    max_requests_partial: Count | UnsetType = UNSET
    max_survivor_ttft_ms: Number | UnsetType = UNSET
    max_survivor_e2e_ms: Number | UnsetType = UNSET
    not_tested_because: Prose | UnsetType = UNSET

    def asks(self) -> tuple[Ask, ...]:
        """Ask for injections, which stand on the trial."""
        return (Ask(metric="failures.kind", load_point=WHOLE_TRIAL, conditional=True),)


@gate(
    "recovery",
    family=FAMILY,
    title="The deployment recovers as declared",
    limit=RecoveryLimit,
    reads=("failures.kind",),
    comparator="<=",
    needs=("groups", "devices"),
    hint="Shorter timeouts, smaller groups to restart, or spare capacity inside the surviving domain.",
)
def recovery(view: TrialView, limit: RecoveryLimit) -> Finding:
    """The declared effect of every injection of the kind (at the load point and of the kind of domain that are
    named) is at most the ceiling. Where a group has more than one rank, a slow rank and the loss of a rank must have
    been injected too, unless a limit says why not."""
    in_groups = any(len(group) > 1 for group in view.serving_groups)
    if limit.injection in GROUP_FAULTS and not in_groups:
        return not_applicable(f"No serving group has more than one rank that {limit.injection} could hold up.")
    if limit.given == "not_tested_because":
        return not_applicable(f"{limit.injection} is not tested: {limit.not_tested_because}")
    failures = {} if isinstance(view.trial.failures, UnsetType) else view.trial.failures
    field = limit.given
    samples = tuple(
        _sample(view, name, entry, limit, field) for name, entry in sorted(failures.items()) if _fits(entry, limit)
    )
    owing = [kind for kind in OWED if in_groups and not _has(view, failures, kind)]
    notes = tuple(f"{kind} was not injected, and no limit says why." for kind in owing)
    missing = (f"{view.at}/failures",) if owing or not samples else ()
    most = exact(getattr(limit, field))
    result = compare(Reading(samples=samples, worst_is="highest", missing=missing, notes=notes), "<=", most)
    finding = compared(result, _sentence(result, limit, field, most), limit_field=field)
    return replace(finding, unit=FIELDS[field][1])


def _fits(entry: Injection, limit: RecoveryLimit) -> bool:
    if entry.kind != limit.injection:
        return False
    if not isinstance(limit.domain_kind, UnsetType) and entry.domain_kind != limit.domain_kind:
        return False
    return isinstance(limit.load_point, UnsetType) or entry.load_point == limit.load_point


def _has(view: TrialView, failures: Mapping[str, Injection], kind: InjectionKind) -> bool:
    """Say whether a fault was injected, or a limit speaks of it."""
    spoken = any(limit.injection == kind for limit in view.limits.get("recovery", {}).values())
    return spoken or any(entry.kind == kind for entry in failures.values())


def _sample(view: TrialView, name: str, entry: Injection, limit: RecoveryLimit, field: str) -> Sample:
    at = f"{view.at}/failures/{name}"
    source = FIELDS[field][0]
    where = (("injection", name), *((("domain", entry.domain),) if isinstance(entry.domain, str) else ()))
    if not source.startswith("survivors/"):
        value = number(getattr(entry, source))
        return _valued(value, f"{at}/{source}", where)
    latency = source.partition("/")[2]
    survivors = entry.survivors
    recorded = UNSET if isinstance(survivors, UnsetType) else getattr(survivors, latency)
    figures = recorded if isinstance(recorded, Statistics) else Statistics()
    value, n = number(getattr(figures, limit.statistic)), number(figures.n)
    quantile = STATISTICS[limit.statistic]
    supported = n is not None and (quantile is None or n * (1 - quantile) >= view.beyond)
    sample = _valued(value, f"{at}/{source}/{limit.statistic}", where)
    if value is None or supported:
        return sample
    note = "Too few requests went on for this statistic." if n is not None else "How many went on is not recorded."
    return replace(sample, low=None, high=None, missing=(f"{at}/{source}/n",), notes=(note,))


def _valued(value: Fraction | None, at: str, where: tuple[tuple[str, str], ...]) -> Sample:
    return Sample(
        value=value,
        low=value,
        high=value,
        where=where,
        read=() if value is None else (at,),
        missing=(at,) if value is None else (),
    )


def _sentence(result: Comparison, limit: RecoveryLimit, field: str, most: Fraction) -> str:
    _, unit, words = FIELDS[field]
    decides = result.decides
    if decides is None:
        place = "" if isinstance(limit.domain_kind, UnsetType) else f" of a {limit.domain_kind}"
        load = "" if isinstance(limit.load_point, UnsetType) else f" at {limit.load_point}"
        return f"No {limit.injection}{place} was injected{load}."
    name = f"Injection {decides.place['injection']} ({limit.injection})"
    if decides.value is None:
        return f"{name} does not say how it went: {field.removeprefix('max_')} is not recorded."
    shown = ms if unit == "ms" else grouped
    found, allowed = apart(shown, decides.value, most, 2)
    if unit == "requests":
        return f"{name}: {counted(int(decides.value), 'request')} {words}; at most {allowed}.{why(result)}"
    seconds = " s" if unit == "s" else ""
    return f"{name} {words} {found}{seconds}; at most {allowed}{seconds}.{why(result)}"
