"""What has to be measured again as Markdown: every part of the answer, and nothing of a document that acts."""

from planner.requalification import Change, contract_changes, requalification
from planner.requalification.written import requalification_markdown
from tests.planner.documents import contract

BEFORE = contract()


def written(pointer: str, value: object) -> str:
    newer = contract((pointer, value))
    answer = requalification(newer, contract_changes(BEFORE, newer))
    return requalification_markdown(answer, "chat | eu", ["serving"] * len(answer.changes))


def test_every_part_is_a_table() -> None:
    text = written("/identity/workload/load_points/single/concurrent_requests", 2)
    heads = [line for line in text.splitlines() if line.startswith("#")]
    assert heads == [
        "# chat \\| eu",
        "## Changed",
        "## Measure again",
        "## Judge again on the evidence there is",
        "## Run again",
        "## Stays valid",
        "## Runs that stay valid",
    ]
    key = "/identity/workload/load\\_points/single/concurrent\\_requests"
    assert f"| {key} | workload at single | serving | 1 | 2 | yes |" in text
    assert f"| ttft | single\\_p95 | {key} |" in text


def test_text_of_a_document_is_only_text() -> None:
    text = written("/identity/workload/name", "x | <b>y</b>\n# z")
    assert '"x \\| \\<b\\>y\\</b\\>\\\\n\\# z"' in text


def test_nothing_changed_is_said() -> None:
    changes: tuple[Change, ...] = ()
    assert requalification_markdown(requalification(BEFORE, changes), "t", ()) == "# t\n\nNothing changed.\n"
