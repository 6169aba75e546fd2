"""The launch page: what is in force is handed out with its label; what is not is not, and says what comes first."""

import io
import re
import zipfile
from datetime import timedelta

import pytest

from planner.canonical import file_sha256
from planner.launch.written import launch_archive
from reviews.clock import when_exactly
from reviews.models import Activation, AuditEntry, Blob, Decision
from reviews.selectors import launch as selector
from reviews.selectors.launch import launch_view
from tests.plugins.append_only import lifted
from tests.queries import cost
from tests.reviews.factories import Cast, planned
from tests.reviews.launched import launchable, launched, parted
from tests.reviews.rules.test_rule_10_activation import activate, approved
from tests.web.conftest import Visit

PAGE = "/w/lab/decisions/1/launch/"
FILES = "/w/lab/decisions/1/launch/files/"


def text(people: Cast, visit: Visit, query: str = "") -> str:
    return visit(people.audrey).get(f"{PAGE}{query}").content.decode()


def section(page: str, name: str) -> str:
    return page.split(f'<h2 id="h-{name}"')[1].split("</section>")[0]


def test_what_is_in_force_is_started_by_the_engine_it_was_measured_with(people: Cast, visit: Visit) -> None:
    revision = launched(people)
    activation = Activation.objects.get()
    assert activation.valid_until is not None
    page = text(people, visit)
    assert '<a class="seg-a" href="/w/lab/decisions/1/launch/?for=vllm" aria-current="true">vLLM</a>' in page
    label = section(page, "label")
    assert "D-0001 r1" in label
    assert f"{when_exactly(activation.valid_until)} UTC" in label
    assert revision.planned.subject in label
    assert "tp4-pp2-ep1-dp1, trial t-stage-a-node" in label
    assert f"# subject: {revision.planned.subject}" in page.split('<pre class="launch-text"')[1]


def test_engines_that_were_not_measured_say_why_not(people: Cast, visit: Visit) -> None:
    launched(people)
    start = section(text(people, visit), "target")
    assert re.findall(r'class="seg-a"[^>]*>([^<]+)', start) == ["vLLM", "LeaderWorkerSet"]
    assert "Not with SGLang or TensorRT-LLM: t-stage-a-node was measured with vLLM, and another engine" in start
    refused = text(people, visit, "?for=sglang")
    assert "<b>There is no launch of this here.</b> t-stage-a-node was measured with vLLM" in refused
    assert "launch-text" not in refused


def test_the_page_tells_what_is_to_be_filled_in_and_what_is_not_said(people: Cast, visit: Visit) -> None:
    launched(people)
    page = text(people, visit)
    assert "TOPOGATE_HEAD</th>" in section(page, "fill")
    assert "/identity/stack/engine" in section(page, "unsaid")
    assert re.findall(r'scope="row">(node-[ab])<', section(page, "seats")) == ["node-a", "node-b"]
    after = section(page, "after")
    assert "topogate identity collect --contract contract.json --node node-a" in after
    slot = Decision.objects.get().slot
    assert f"topogate identity post node-a.json --slot {slot} --server http://testserver --workspace lab" in after


def test_only_a_script_ends_with_the_decision(people: Cast, visit: Visit) -> None:
    launched(people)
    script, sets = "a script starts nothing after.", "its sets do not end by themselves."
    for query, said, unsaid in (("?for=vllm", script, sets), ("?for=lws", sets, script)):
        page = text(people, visit, query)
        assert (said in page, unsaid in page) == (True, False)


def test_files_and_archive_are_the_bytes_that_the_page_shows(people: Cast, visit: Visit) -> None:
    launched(people)
    audrey = visit(people.audrey)
    script = audrey.get(f"{FILES}launch.sh?for=vllm")
    assert script.headers["Content-Disposition"] == 'attachment; filename="launch.sh"'
    assert script.headers["Content-Type"] == "text/x-shellscript; charset=utf-8"
    assert file_sha256(script.content) in text(people, visit)
    archive = audrey.get("/w/lab/decisions/1/launch.zip?for=vllm")
    with zipfile.ZipFile(io.BytesIO(archive.content)) as held:
        assert [(name, held.read(name)) for name in held.namelist()] == [("launch.sh", script.content)]
    assert archive.content == audrey.get("/w/lab/decisions/1/launch.zip?for=vllm").content
    assert audrey.get(f"{FILES}lws.yaml?for=vllm").status_code == 404
    assert audrey.get(f"{FILES}lws.yaml?for=lws").headers["Content-Type"] == "application/yaml; charset=utf-8"


def test_ranks_that_no_engine_puts_there_are_named_and_nothing_starts_them(people: Cast, visit: Visit) -> None:
    parted(people)
    page = text(people, visit)
    assert "<b>Not every rank is started where it was decided.</b>" in page
    assert re.findall(r'class="mono">(rank \d)<', section(page, "faults")) == ["rank 2", "rank 3", "rank 4", "rank 5"]
    assert "vllm serve" not in page
    assert "instance 0 cannot be started as decided" in page


def refused(people: Cast, visit: Visit) -> str:
    """The page, where nothing may be handed out in any form."""
    audrey = visit(people.audrey)
    assert audrey.get(f"{FILES}launch.sh?for=vllm").status_code == 409
    assert audrey.get("/w/lab/decisions/1/launch.zip?for=vllm").status_code == 409
    page = text(people, visit)
    assert "<b>Nothing may be launched.</b>" in page
    assert "CUDA_VISIBLE_DEVICES" not in page
    return page


def test_nothing_is_launched_before_the_decision_is_in_force(people: Cast, visit: Visit) -> None:
    launchable(people)
    page = refused(people, visit)
    assert "D-0001 is in review since" in page
    assert 'href="/w/lab/decisions/1/release/">Release</a>' in section(page, "next")


def test_what_expired_is_handed_out_no_more(people: Cast, visit: Visit) -> None:
    launched(people)
    with lifted():
        at = Activation.objects.get().activated_at
        Activation.objects.update(activated_at=at - timedelta(days=2), valid_until=at - timedelta(days=1))
    assert "D-0001 is expired since" in refused(people, visit)


def test_what_is_stale_is_handed_out_no_more(people: Cast, visit: Visit) -> None:
    launched(people)
    with lifted():
        Decision.objects.update(state="STALE")
    assert "D-0001 is stale since" in refused(people, visit)


def test_what_was_replaced_leads_to_what_is_in_force(people: Cast, visit: Visit) -> None:
    launched(people)
    activate(people, launchable(people))
    page = refused(people, visit)
    assert '<a href="/w/lab/decisions/2/launch/">launch of D-0002</a>' in section(page, "next")


def test_an_engine_without_a_command_has_no_launch(people: Cast, visit: Visit) -> None:
    activate(people, approved(people))
    page = text(people, visit)
    assert "No command is known that starts" in page
    assert visit(people.audrey).get(f"{FILES}launch.sh").status_code == 422


@pytest.mark.parametrize("address", [f"{PAGE}?for=docker", f"{FILES}launch.sh?for=docker"])
def test_an_unknown_target_is_refused(address: str, people: Cast, visit: Visit) -> None:
    launched(people)
    assert visit(people.audrey).get(address).status_code == 422


def test_documents_beyond_the_bound_are_left_to_the_command_line(
    people: Cast, visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    launched(people)
    monkeypatch.setattr(selector, "MOST_BYTES", 1_000)
    page = text(people, visit)
    assert "at most 1,000 are read here" in page
    assert visit(people.audrey).get(f"{FILES}launch.sh").status_code == 422


def test_looking_at_a_launch_stores_nothing(people: Cast, visit: Visit) -> None:
    launched(people)
    before = (AuditEntry.objects.count(), Blob.objects.count())
    text(people, visit)
    visit(people.audrey).get("/w/lab/decisions/1/launch.zip")
    assert (AuditEntry.objects.count(), Blob.objects.count()) == before


def test_other_decisions_cost_no_more_queries(people: Cast, visit: Visit) -> None:
    launched(people)
    audrey = visit(people.audrey)
    alone = cost(audrey, PAGE)
    for _ in range(3):
        planned(people)
    assert cost(audrey, PAGE) == alone <= 40


def test_the_same_decision_gives_the_same_bytes(people: Cast) -> None:
    launched(people)
    made = [launch_view(actor=people.bob, workspace=people.workspace, number=1).made for _ in range(2)]
    assert made[0] is not None
    assert made[1] is not None
    assert launch_archive(made[0]) == launch_archive(made[1])
