"""Whatever files say: the same proposal in any order, an answer and never an error, and nothing predicted."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from planner.builder import Draft, add_files, assemble, confirm, decide_held, draft_bytes, new_draft, read_draft
from planner.builder.files import runs_of
from planner.builder.records import DraftFile, ReadPlace, ReadRun, ReadValue, Standing
from planner.builder.shapes import problems_of
from planner.builder.trees import trees_of
from planner.errors import DocumentRefusedError
from planner.importers import IMPORTERS
from planner.importers.quantities import FAMILIES, QUANTITIES, STATISTICS, quantity
from planner.intake import read_evidence
from planner.records.base import SAFE_INTEGER
from tests.planner.builder.kit import BECAUSE, BY, contract, looked_at

CONTRACT = contract()
PREDICTED = 7_654_321.125
"""A figure that no other value has."""

NAMES = (*sorted(QUANTITIES), *(f"{family}.{statistic}" for family in FAMILIES for statistic in STATISTICS))
FIGURES = st.one_of(
    st.sampled_from([0, 1, 2, 4, 64, -1, SAFE_INTEGER, 0.5, 1e-308, 1e300]),
    st.integers(0, 300),
    st.floats(0, 1e6, allow_nan=False),
)
TEXTS = st.one_of(
    st.sampled_from(
        ["closed", "open", "", "vllm", "on", "2026-03-01T10:00:00Z", "20260301-101500", "0" * 200, "\u202ex"]
    ),
    st.text(max_size=12),
)
THINGS = st.sampled_from(
    [
        "",
        "",
        "",
        "gpu-0",
        "gpu-1",
        "tp0",
        "dp0-tp1",
        "engine-0",
        "prefill-0",
        "decode-0",
        "mlx5_0-1",
        "8-in",
        "*",
        "a/b",
    ]
)

STANDINGS: tuple[Standing, ...] = ("measured", "measured", "stated", "hint", "predicted")


@st.composite
def values(draw: st.DrawFn) -> ReadValue:
    """One value of any quantity, meant or not."""
    name = draw(st.sampled_from(NAMES))
    standing: Standing = draw(st.sampled_from(STANDINGS))
    own = quantity(name)
    value: Any = PREDICTED if standing == "predicted" else draw(st.one_of(FIGURES, TEXTS, st.booleans()))
    return ReadValue(
        name=name,
        value=value,
        unit=own.unit,
        raw=value,
        raw_unit=draw(st.sampled_from([own.unit, "GiB", ""])),
        place=ReadPlace(pointer=draw(st.sampled_from([None, "", "/a"])), line=draw(st.sampled_from([None, 1]))),
        document=own.document,
        field=own.field,
        standing=standing,
        of=draw(THINGS),
    )


@st.composite
def files(draw: st.DrawFn) -> list[DraftFile]:
    """Up to four files of any formats."""
    found = []
    for number in range(draw(st.integers(1, 4))):
        runs = draw(st.lists(st.lists(values(), max_size=14), max_size=3))
        found.append(
            DraftFile(
                name=draw(st.sampled_from(["a.json", "tp2.log", "tp4_dp2.json", "x"])),
                sha256=f"sha256:{number:016x}{'0' * 48}",
                bytes=1,
                recognised=True,
                format=draw(st.sampled_from(IMPORTERS)).id,
                runs=tuple(
                    ReadRun(
                        id=f"run-{at}",
                        place=ReadPlace(),
                        status=draw(st.sampled_from(["usable", "usable", "held", "refused"])),
                        values=tuple(read),
                        remarks=(),
                        missing=(),
                        asked=(),
                    )
                    for at, read in enumerate(runs)
                ),
            )
        )
    return found


def decided(draft: Draft) -> Draft:
    """Use what waits for a person, and take every proposal that its field takes."""
    for run, _, read in runs_of(draft.files):
        if read.status == "held":
            draft = decide_held(draft, run, use=True, by=BY, because=BECAUSE)
    fields = [
        question.field
        for question in looked_at(draft).questions
        if question.proposals and not problems_of(question.field, question.proposals[0].value)
    ]
    return confirm(draft, CONTRACT, fields, by=BY)


@pytest.mark.timeout(240)
@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(given_files=files(), order=st.randoms(use_true_random=False))
def test_any_files_give_an_answer_and_nothing_predicted(given_files: list[DraftFile], order: Any) -> None:
    draft = add_files(new_draft(CONTRACT), CONTRACT, given_files).draft
    shuffled = list(given_files)
    order.shuffle(shuffled)
    assert add_files(new_draft(CONTRACT), CONTRACT, shuffled).draft == draft
    looked_at(draft)
    draft = decided(draft)
    state, made = looked_at(draft), assemble(draft, CONTRACT)
    assert state.complete == bool(made.document) == (not made.open)
    if made.document:
        read_evidence(made.document, CONTRACT)
    assert str(PREDICTED).encode() not in made.document
    for tree in trees_of(draft, CONTRACT).trials.values():
        assert not {one.read.standing for found in tree.fields.values() for one in found} & {"hint", "predicted"}
        assert PREDICTED not in [what.value for what in tree.values.values()]


@pytest.mark.timeout(120)
@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(found=files())
def test_a_draft_reads_back_as_it_was_or_is_refused(found: list[DraftFile]) -> None:
    draft = add_files(new_draft(CONTRACT), CONTRACT, found).draft
    raw = draft_bytes(draft)
    problems = refusal_codes(raw)
    # Texts of these samples may hold what no document does; importers take it out.
    assert problems <= {"document/bidi_control", "document/control_character", "document/key", "document/nul"}
    if not problems:
        assert draft_bytes(read_draft(raw)) == raw


def refusal_codes(raw: bytes) -> set[str]:
    """Return the codes of what is wrong with a draft."""
    try:
        read_draft(raw)
    except DocumentRefusedError as refused:
        return {problem.code for problem in refused.problems}
    return set()
