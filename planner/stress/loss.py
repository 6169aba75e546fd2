"""A device or a node that is gone.

No counted window can show it: those were measured while everything ran. So the loss is put into a window of its own,
with the purpose ``injection``, and the gate that reckons with losses is asked as if it had not: first with nothing
lost, then, as it stands, with the worst domain of the kind gone.
"""

from fractions import Fraction

import msgspec

from planner.failure import losses
from planner.gates.failure import FailureDomainLimit
from planner.needs import required_rate, reserved_capacity
from planner.numbers import exact, plain
from planner.readings import number
from planner.records.base import UnsetType
from planner.records.evidence import Load, Requests, Window
from planner.records.plan import OrderKey, Outcome, Value
from planner.stress.base import Case, Fault, Injected, NotInjectable, injection
from planner.stress.changes import loads, scaled_rate, with_windows
from planner.view import TrialView

GATE = "failure_domain"
WINDOW = "injected-loss"
DOMAINS = ("device", "node")

Before = tuple[Outcome, Value]


def lost_domains(view: TrialView, order: tuple[OrderKey, ...]) -> tuple[str, ...]:
    """Return the kinds of domain that are lost one at a time."""
    return DOMAINS


@injection(
    "rank_loss",
    title="Rank loss",
    fault="the worst {target} is gone, and with it every serving group that has a rank there",
    gates=(GATE,),
    needs=("groups", "devices"),
    targets=lost_domains,
)
def rank_loss(case: Case) -> Fault:
    """The device or node is gone whose loss takes down most serving groups, then most ranks. A window of purpose
    ``injection`` is added in which completed requests and tokens fall by the share of groups lost. The limits of
    failure_domain for that kind are taken from nothing lost to their own reckoning of the loss."""
    view = case.view
    worst = max(
        losses(view.serving_groups, view.rank_device, view.site.domains(case.target) or {}),
        key=lambda loss: (len(loss.groups), loss.ranks),
        default=None,
    )
    if worst is None:
        return NotInjectable(sentence=f"No rank sits on a declared {case.target}.")
    limits = view.limits.get(GATE, {})
    baseline = {
        (GATE, name): _before(case, name, limit) for name, limit in limits.items() if limit.domain == case.target
    }
    beside = frozenset((GATE, name) for name in limits) - baseline.keys()
    measured = loads(view.trial)
    counted = [name for name, (window, _) in measured.items() if window.purpose == "counted"]
    if not counted:
        return Injected(trial=view.trial, changed=(), baseline=baseline, beside=beside)
    left = 1 - Fraction(len(worst.groups), len(view.serving_groups))
    name = _unused(WINDOW, view)
    return Injected(
        trial=with_windows(view.trial, {name: _during_loss(*measured[counted[-1]], left)}),
        changed=(f"{view.at}/windows/{name}",),
        baseline=baseline,
        beside=beside,
    )


def _before(case: Case, limit_id: str, limit: FailureDomainLimit) -> Before:
    """Return outcome and reading of a limit while nothing is lost."""
    if case.before.gates[GATE].limits[limit_id].outcome == "UNKNOWN":
        return "UNKNOWN", None
    if isinstance(limit.min_capacity_left_of_required, UnsetType):
        return "PASS", 0
    contract = case.view.contract
    rate, required = case.view.throughput(limit.load_point).value, required_rate(contract)
    if rate is None or not required:
        return "UNKNOWN", None
    left = rate * (1 - reserved_capacity(contract)) / required
    return "PASS" if left >= exact(limit.min_capacity_left_of_required) else "FAIL", plain(left)


def _unused(name: str, view: TrialView) -> str:
    while name in view.trial.windows:
        name = f"{name}-x"
    return name


def _during_loss(window: Window, load: Load, left: Fraction) -> Window:
    """Return the window as it would have gone with a part of the groups: what they did not complete has failed."""
    return msgspec.structs.replace(
        window,
        purpose="injection",
        load=msgspec.structs.replace(
            load,
            requests=load.requests if isinstance(load.requests, UnsetType) else _fewer(load.requests, left),
            output_tokens_total=_whole(load.output_tokens_total, left),
            requests_per_s=scaled_rate(load.requests_per_s, left),
            output_tokens_per_s=scaled_rate(load.output_tokens_per_s, left),
        ),
    )


def _whole(count: int | UnsetType | None, left: Fraction) -> int | UnsetType | None:
    found = number(count)
    return count if found is None else round(found * left)


def _fewer(requests: Requests, left: Fraction) -> Requests:
    completed, failed = number(requests.completed), number(requests.failed)
    if completed is None:
        return requests
    kept = round(completed * left)
    return msgspec.structs.replace(
        requests,
        completed=kept,
        failed=requests.failed if failed is None else int(failed + completed) - kept,
        good=_whole(requests.good, left),
    )
