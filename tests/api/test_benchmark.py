"""The benchmark matrix by the API: the same bytes as on the command line, never stored."""

import pytest

from planner.intake import read_contract, read_evidence
from planner.matrix import benchmark_matrix, matrix_bytes
from planner.matrix.markdown import matrix_markdown
from planner.matrix.script import matrix_script
from planner.records.matrix import Matrix
from reviews.models import AuditEntry, Blob
from tests.api.asking import Caller, problem
from tests.api.test_stress import several
from tests.queries import cost
from tests.reviews.factories import Cast, Pair, documents, planned, submitted

pytestmark = pytest.mark.both_databases

ADDRESS = "decisions/1/revisions/1/benchmark"


def matrix(pair: Pair) -> Matrix:
    contract = read_contract(pair.contract)
    return benchmark_matrix(contract, read_evidence(pair.evidence, contract))


def test_the_matrix_is_the_one_that_the_command_line_prints(bob: Caller, people: Cast) -> None:
    planned(people, pair=several(2))
    expected = matrix(several(2))
    assert bob.get(ADDRESS).content == matrix_bytes(expected)
    assert bob.get(f"{ADDRESS}?as=markdown").content.decode() == matrix_markdown(expected)
    script = bob.get(f"{ADDRESS}?as=sh&client=aiperf")
    assert script.content.decode() == matrix_script(expected, "aiperf")
    assert script.headers["Content-Type"] == "text/x-shellscript; charset=utf-8"


def test_no_plan_is_needed_and_nothing_is_stored(bob: Caller, people: Cast) -> None:
    submitted(people)
    bob.get("decisions")  # notes the use of the token
    before = (AuditEntry.objects.count(), Blob.objects.count())
    assert bob.get(ADDRESS).content == matrix_bytes(matrix(documents()))
    assert (AuditEntry.objects.count(), Blob.objects.count()) == before


@pytest.mark.parametrize("query", ["as=pdf", "client=nonsense", "as=sh&as=json", "page=1"])
def test_what_is_asked_for_wrongly_is_refused(query: str, bob: Caller, people: Cast) -> None:
    submitted(people)
    assert problem(bob.get(f"{ADDRESS}?{query}"))["status"] == 422


def test_more_trials_cost_no_more_queries(bob: Caller, people: Cast) -> None:
    planned(people, pair=several(1))
    planned(people, pair=several(6))
    bob.get("decisions")  # notes the use of the token

    costs = [cost(bob, f"decisions/{number}/revisions/1/benchmark") for number in (1, 2)]
    assert costs[0] == costs[1] <= 30


def test_no_cache_keeps_it_for_others(bob: Caller, people: Cast) -> None:
    submitted(people)
    assert bob.get(ADDRESS).headers["Cache-Control"] == "private, no-store"
