"""Among trials alike, those whose numbers or form settle nothing are judged by the gates."""

import pytest

from planner.alike import Glance, check_together
from planner.documents import ContractDocument, EvidenceDocument
from planner.evaluate import Verdict
from planner.view import views
from tests.planner.documents import ABSENT, Change, changed
from tests.planner.factories import AS_OF
from tests.planner.properties.test_alike import a_trial, assert_alike, documents_of


def differing_by(*changes: tuple[Change, ...]) -> tuple[ContractDocument, EvidenceDocument]:
    """Return trials that differ from one of two groups by changes."""
    trials = {f"t{index}": changed(a_trial("sampled", ttft=336 + index / 4), *own) for index, own in enumerate(changes)}
    return documents_of(trials)


def judged_alike(*changes: tuple[Change, ...]) -> list[type]:
    """Return how trials were judged that differ from one of two groups by changes."""
    return [type(verdict) for verdict in assert_alike(*differing_by(*changes)).verdicts.values()]


PEAKS = "/windows/w1/per_rank/device_used_peak_bytes"


ODD_NUMBERS = [
    pytest.param((f"{PEAKS}/values/1", None), id="a rank without a peak"),
    pytest.param((f"{PEAKS}/samples", 50), id="too few samples"),
    pytest.param(("/windows/w1/load/ttft_ms/n", 199), id="too few requests"),
    pytest.param(("/windows/w1/load/e2e_ms/mean", 4000), id="a broken identity"),
    pytest.param(("/windows/w1/end", "2026-10-01T12:11:40"), id="no zone"),
    pytest.param(("/windows/w1/load/output_tokens_total", 0), id="no tokens"),
    pytest.param(("/windows/w1/load/duration_s", 0), id="no time"),
    pytest.param(("/windows/w1/load/requests/sent", 0), id="nothing sent"),
    pytest.param(("/windows/w1/replicas/r0/longest_sequence_tokens", 4095), id="context not reached"),
    pytest.param(("/windows/w1/load/ttft_ms", ABSENT), id="nothing measured"),
]
ODD_FORMS = [
    pytest.param((f"{PEAKS}/samples", ABSENT), id="another form"),
    pytest.param(("/windows/w1/replicas/r0/ranks", [0, 2]), id="replicas that are no groups"),
]


@pytest.mark.parametrize("odd", [*ODD_NUMBERS, *ODD_FORMS])
def test_what_numbers_do_not_settle_the_gates_judge(odd: Change) -> None:
    assert judged_alike((), (), (odd,), (), ()) == [Glance, Glance, Verdict, Glance, Glance]


@pytest.mark.parametrize("odd", ODD_NUMBERS)
def test_nothing_is_like_a_trial_that_numbers_do_not_settle(odd: Change) -> None:
    assert judged_alike((odd,), (), (), (), ()) == [Verdict] * 5
    assert judged_alike((odd,), (), (), (), (), ()) == [Verdict, *[Glance] * 5]


@pytest.mark.parametrize("odd", ODD_FORMS)
def test_a_trial_may_be_the_only_one_of_its_kind(odd: Change) -> None:
    assert judged_alike((odd,), (), (), (), ()) == [Glance, *[Verdict] * 4]


@pytest.mark.parametrize(
    ("odd", "shared"),
    [
        pytest.param((f"{PEAKS}/values/1", None), 5, id="a rank without a peak"),
        pytest.param(("/windows/w1/load/ttft_ms/n", 199), 4, id="too few requests"),
        pytest.param(("/windows/w1/load/e2e_ms/mean", 4000), 4, id="a broken identity"),
        pytest.param(("/windows/w1/load/in_flight_mean", 68), 4, id="another form"),
    ],
)
def test_identities_that_surely_hold_are_evaluated_once(odd: Change, shared: int) -> None:
    for changes in (((), (odd,), (), (), ()), ((odd,), (), (), (), ())):
        check_together(together := views(*differing_by(*changes), AS_OF))
        found = [id(view.checked["w1"][1]) for view in together.values() if "w1" in view.checked]
        assert max(map(found.count, found)) == shared


def test_few_trials_are_judged_by_the_gates_alone() -> None:
    assert judged_alike((), (), (), ()) == [Verdict] * 4
