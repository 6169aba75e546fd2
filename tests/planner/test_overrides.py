"""What if several limits or readings were other ones: replanning with all overrides is exactly what is answered."""

import copy
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.docket import ALWAYS
from planner.errors import DocumentRefusedError
from planner.overrides import Reading, Setting, overridden, overridden_bytes
from planner.records.overrides import Overridden, Override
from tests.planner.fleet import AS_OF, a_contract, a_trial, documents, planned
from tests.planner.test_flips import LIMIT_FIELDS, RATES, SELECTIONS, TRIALS, Tree, gates

TRIALS_OF_THREE = {
    "w": a_trial(6400, tp=8, ttft=400),
    "r": a_trial(7200, tp=8, ttft=600),
    "s": a_trial(5600, tp=4, ttft=300),
}
TAIL, FLOOR = "/gates/ttft/tail/max_ms", "/gates/throughput/floor/min_output_tokens_per_s"


def asked(
    *settings: Setting, readings: Sequence[Reading] = (), contract: Tree | None = None, trials: Tree | None = None
) -> Overridden:
    pair = documents(contract or a_contract(gates=gates()), trials or TRIALS_OF_THREE)
    return overridden(*pair, AS_OF, settings=settings, readings=readings)


def refused(*settings: Setting, readings: Sequence[Reading] = ()) -> list[tuple[str, str, str]]:
    with pytest.raises(DocumentRefusedError) as error:
        asked(*settings, readings=readings)
    return [(problem.pointer, problem.expected, problem.found) for problem in error.value.problems]


@pytest.mark.parametrize(
    ("at", "value"),
    [
        pytest.param("/needs/\ud800", {}, id="half of a surrogate pair in the pointer"),
        pytest.param("/needs/x", "\ud800", id="half of a surrogate pair"),
        pytest.param("/needs/x", float("nan"), id="NaN"),
        pytest.param("/needs/x", {1: 2}, id="a key that is no text"),
        pytest.param("/needs/x", {1, 2}, id="a set"),
        pytest.param("/needs/x", 2**53, id="an integer beyond doubles"),
    ],
)
def test_a_setting_that_json_does_not_hold_is_refused(at: str, value: object) -> None:
    problem = (at.replace("\ud800", "\\ud800"), "a pointer and a value as JSON has them", "another")
    assert refused(Setting(at="/needs", value={}), Setting(at=at, value=value)) == [problem]


def test_a_setting_given_twice_is_refused() -> None:
    twice = refused(Setting(at=TAIL, value=400), Setting(at=TAIL, value=600))
    assert twice == [(TAIL, "one value", "2 values")]


def test_the_value_of_a_setting_stays_as_the_caller_has_it() -> None:
    value = {"tail": {"max_ms": 400, "load_point": "saturated", "statistic": "p95", "because": "Agreed."}}
    before = copy.deepcopy(value)
    answer = asked(Setting(at="/gates/ttft", value=value), Setting(at=TAIL, value=600))
    assert value == before
    assert [override.new for override in answer.overrides] == [before, 600]


@settings(max_examples=40, deadline=None)
@given(
    trials=TRIALS,
    selection=SELECTIONS,
    before=st.tuples(RATES, st.integers(400, 600), st.integers(1, 3)),
    after=st.tuples(RATES, st.integers(400, 600), st.integers(1, 3)),
)
def test_several_limits_at_once_give_what_their_contract_gives(
    trials: Tree, selection: Tree, before: tuple[int, int, int], after: tuple[int, int, int]
) -> None:
    trials = told_apart(trials)
    fields = zip(("throughput/floor", "ttft/tail", "cost/price"), LIMIT_FIELDS.values(), after, strict=True)
    changes = [Setting(at=f"/gates/{at}/{field}", value=value) for at, field, value in fields]
    answer = asked(*changes, contract=a_contract(gates=gates(*before), selection=selection), trials=trials)
    other = planned(a_contract(gates=gates(*after), selection=selection), trials)
    assert answer.decision_after == other.decision
    assert {name: trial.after for name, trial in answer.trials.items()} == {
        name: candidate.state for name, candidate in other.candidates.items()
    }
    places = {entry.trial: place for place, entry in enumerate(other.eligible, 1)}
    assert {name: trial.place_after for name, trial in answer.trials.items() if trial.place_after} == places


def told_apart(trials: Tree) -> Tree:
    """Return the trials with a source each: equal ones are refused."""
    copies = copy.deepcopy(trials)
    for name, trial in copies.items():
        trial["source"] = name
    return copies


@settings(max_examples=40, deadline=None)
@given(trials=TRIALS, selection=SELECTIONS, floor=RATES, tail=st.integers(400, 600), price=st.integers(1, 3))
def test_every_flip_asked_as_a_what_if_gives_the_winner_it_states(
    trials: Tree, selection: Tree, floor: int, tail: int, price: int
) -> None:
    trials = told_apart(trials)
    contract = a_contract(gates=gates(floor, tail, price), selection=selection)
    for flip in planned(contract, trials).flips:
        if flip.kind == "limit":
            setting = Setting(at=f"/gates/{flip.gate}/{flip.limit_id}/{LIMIT_FIELDS[flip.gate]}", value=flip.new)
            answer = asked(setting, contract=contract, trials=trials)
        else:
            assert isinstance(flip.new, int | float)
            reading = Reading(trial=str(flip.trial), gate=flip.gate, limit_id=flip.limit_id or ALWAYS, value=flip.new)
            answer = asked(readings=(reading,), contract=contract, trials=trials)
        assert answer.winner_after == flip.winner, flip


def test_two_limits_let_in_what_one_alone_does_not() -> None:
    trials = {**TRIALS_OF_THREE, "f": a_trial(5900, tp=4, ttft=510)}
    loose_tail, low_floor = Setting(at=TAIL, value=520), Setting(at=FLOOR, value=5800)
    assert [asked(*one_alone, trials=trials).winner_after for one_alone in ((loose_tail,), (low_floor,))] == ["w", "w"]
    both = asked(loose_tail, low_floor, trials=trials)
    assert (both.winner_before, both.winner_after) == ("w", "f")
    turned = both.trials["f"]
    assert (turned.before, turned.after, turned.place_before, turned.place_after) == ("REJECTED", "ELIGIBLE", None, 1)
    assert [(each.gate, each.limit_id, each.before, each.after) for each in turned.turned] == [
        ("ttft", "tail", "FAIL", "PASS"),
        ("throughput", "floor", "FAIL", "PASS"),
    ]
    assert both.overrides == (
        Override(kind="set", at=TAIL, old=500, new=520),
        Override(kind="set", at=FLOOR, old=6000, new=5800),
    )


def test_a_limit_left_out_is_not_declared() -> None:
    answer = asked(Setting(at="/gates/ttft", removes=True), Setting(at="/gates/cost/price", removes=True))
    assert answer.winner_after == "r"
    (tail, price) = answer.trials["r"].turned
    assert (tail.gate, tail.before, tail.after, tail.sentence) == ("ttft", "FAIL", None, "Not declared any more.")
    assert (price.gate, price.before, price.after) == ("cost", "PASS", None)


def test_a_refused_contract_hides_no_trial_that_is_not_there() -> None:
    stranger = Reading(trial="nobody", gate="ttft", limit_id="tail", value=1)
    known = Reading(trial="w", gate="ttft", limit_id="of the new contract", value=1)
    assert refused(Setting(at="/gates/nope", removes=True), readings=[stranger, known]) == [
        ("/gates/nope", "something that the contract has", "nothing"),
        ("nobody:ttft.tail", "a trial of the evidence", '"nobody"'),
    ]


def test_what_is_beside_limits_may_be_another_too() -> None:
    answer = asked(
        Setting(at=FLOOR, value=5000), Setting(at="/selection", value={"keys": [{"key": "ttft", "direction": "asc"}]})
    )
    assert answer.winner_after == "s"


def test_a_reading_moves_its_keys_and_every_limit_that_reads_it() -> None:
    contract = a_contract(gates=gates())
    stricter = {**contract["gates"]["throughput"]["floor"], "min_output_tokens_per_s": 7000}
    contract["gates"]["throughput"]["stretch"] = stricter
    answer = asked(
        readings=(
            Reading(trial="r", gate="ttft", limit_id="tail", value=500),
            Reading(trial="w", gate="throughput", limit_id="floor", value=8000),
        ),
        contract=contract,
    )
    assert (answer.winner_before, answer.winner_after) == (None, "w")
    assert [(each.limit_id, each.after) for each in answer.trials["w"].turned] == [("stretch", "PASS")]
    assert answer.trials["r"].place_after == 2
    assert answer.trials["r"].turned[0].sentence == "Taken to be 500 ms (measured 600 ms)."


def test_a_reading_that_nobody_measured_may_be_taken() -> None:
    answer = asked(
        readings=(Reading(trial="u", gate="ttft", limit_id="tail", value=450),),
        trials={"u": a_trial(9600, tp=8), "w": a_trial(6400, tp=8, ttft=400)},
    )
    assert (answer.winner_before, answer.winner_after) == ("w", "u")
    assert answer.trials["u"].before == "INCONCLUSIVE"
    assert answer.overrides[0].old is None


def test_nothing_of_it_is_a_plan() -> None:
    text = overridden_bytes(asked(Setting(at=TAIL, value=520))).decode()
    assert '"injected":true' in text
    assert '"claim":"INJECTED_OVERRIDES_NOT_A_PLAN_NOT_SIGNABLE"' in text
    assert "plan_id" not in text


def test_documents_stay_as_they_are() -> None:
    pair = documents(a_contract(gates=gates()), TRIALS_OF_THREE)
    before = copy.deepcopy(pair)
    overridden(*pair, AS_OF, settings=(Setting(at=TAIL, value=520),))
    assert pair == before


REFUSED: dict[str, tuple[tuple[Setting, ...], tuple[Reading, ...], list[tuple[str, str, str]]]] = {
    "the identity": (
        (Setting(at="/identity/model/layers", value=1),),
        (),
        [
            (
                "/identity/model/layers",
                "a pointer into gates, needs, headroom, comparison, steady_state, evidence_required, fleet, selection, "
                "validity",
                '"identity"',
            )
        ],
    ),
    "two places that are not there": (
        (Setting(at="/gates/ttft/other/max_ms", value=1), Setting(at="/needs", removes=True)),
        (),
        [
            ("/gates/ttft/other/max_ms", "a place inside an object of the contract", "nothing that holds it"),
            ("/needs", "something that the contract has", "nothing"),
        ],
    ),
    "a value that the limit does not take": (
        (Setting(at=TAIL, value="soon"),),
        (),
        [(TAIL, "a number of at least 0", '"soon" (text)')],
    ),
    "readings of what is not there": (
        (),
        (
            Reading(trial="x", gate="ttft", limit_id="tail", value=1),
            Reading(trial="w", gate="ttft", limit_id="head", value=1),
            Reading(trial="w", gate="cost", limit_id="price", value=1),
        ),
        [
            ("x:ttft.tail", "a trial of the evidence", '"x"'),
            ("w:ttft.head", "a limit of the contract", '"ttft.head"'),
            ("w:cost.price", "a reading of its own", "cost, which follows from another one"),
        ],
    ),
    "one reading twice": (
        (),
        (
            Reading(trial="w", gate="ttft", limit_id="tail", value=1),
            Reading(trial="w", gate="ttft", limit_id="tail", value=2),
        ),
        [("w:ttft.tail", "one value", "2 values")],
    ),
}


@pytest.mark.parametrize(("settings", "readings", "problems"), REFUSED.values(), ids=REFUSED.keys())
def test_an_override_of_something_else_is_refused(
    settings: tuple[Setting, ...], readings: tuple[Reading, ...], problems: list[tuple[str, str, str]]
) -> None:
    assert refused(*settings, readings=readings) == problems
