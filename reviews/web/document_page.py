"""The page of a revision's contract or evidence: one place of it, by JSON pointer, with what stands around it."""

from dataclasses import dataclass
from urllib.parse import urlencode

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from planner.pointers import child, steps
from reviews.errors import printable
from reviews.selectors.attachments import attached_files
from reviews.selectors.decision_page import decision_page
from reviews.selectors.documents import revision_bytes
from reviews.selectors.rows import DecisionPage
from reviews.web.decision_head import head_for
from reviews.web.document_lines import DocumentLine, DocumentPlace, place_of
from reviews.web.document_links import place_query
from reviews.web.frame import PersonRequest, frame, page, workspace_of
from reviews.web.links import number_or_none
from reviews.web.page_rows import Strip
from reviews.web.value_sources import value_sources

MOST_SHOWN = 200
"""Characters of a pointer that leads to nothing."""
TITLES = {"contract": "Contract", "evidence": "Evidence"}


@dataclass(frozen=True, slots=True)
class ShownLine:
    """A line with the address that it leads to; its text begins behind ``indent``."""

    line: DocumentLine
    indent: str
    text: str
    href: str
    is_first: bool


@require_safe
@page
def document(request: PersonRequest, slug: str, number: str, kind: str) -> HttpResponse:
    """Show the node of a pointer; the whole document where none is given."""
    workspace, asked = workspace_of(slug), request.GET.get("at", "")
    found = decision_page(
        actor=request.user,
        workspace=workspace,
        number=int(number),
        revision=number_or_none(request.GET.get("revision", "")),
        read_plan=False,
    )
    stored = revision_bytes(actor=request.user, workspace=workspace, revision_id=found.shown.id)
    place = place_of(
        stored.contract if kind == "contract" else stored.evidence,
        asked,
        number_or_none(request.GET.get("page", "")) or 1,
    )
    revision = found.shown.number
    file_sha256 = found.shown.contract_file_sha256 if kind == "contract" else found.shown.evidence_file_sha256
    attached = {}
    if kind == "evidence":
        attached = attached_files(actor=request.user, workspace=workspace, evidence_sha256=file_sha256)
    context = frame(
        slug,
        "inbox",
        sources=(
            value_sources(stored.evidence, place.at, slug=slug, revision=revision, attached=attached)
            if kind == "evidence"
            else None
        ),
        head=head_for(found, slug),
        title=TITLES[kind],
        strip=absent_strip(place, asked),
        place=place,
        where=where_text(place),
        lines=shown_lines(place, revision),
        crumbs=crumbs_of(place, revision),
        pages=pages_of(place, revision),
        content_id=found.shown.contract if kind == "contract" else found.shown.evidence,
        file_sha256=file_sha256,
        raw_href=reverse("digest-raw", args=[slug, file_sha256]),
        clone_href=f"{reverse('contract-builder', args=[slug])}?contract={file_sha256}" if kind == "contract" else "",
        thread_href=thread_href(found, slug, kind, place.at),
        others=[
            (title, reverse("document", args=[slug, found.number, name]) + f"?revision={revision}", name == kind)
            for name, title in TITLES.items()
        ],
    )
    return render(request, "reviews/document.html", context)


def thread_href(found: DecisionPage, slug: str, kind: str, at: str) -> str:
    """Return where a thread about a node begins: a field of the contract, or the trial that a node of evidence is of.

    Empty where no thread can be about it, or the revision is not planned.
    """
    path = steps(at)
    if found.shown.plan is None or not path or (kind == "evidence" and (path[0] != "trials" or len(path) == 1)):
        return ""
    about = {"kind": "contract", "name": at} if kind == "contract" else {"kind": "trial", "name": path[1]}
    query = urlencode({"revision": found.shown.number, **about}, safe="/~")
    return f"{reverse('thread-new', args=[slug, found.number])}?{query}"


def absent_strip(place: DocumentPlace, asked: str) -> Strip | None:
    """Say that a pointer leads to nothing, and what is shown in its place."""
    if not place.absent and (not asked or steps(asked)):
        return None
    holder = place.at or "the whole document"
    return Strip(
        lead="Not in this document.",
        text=f"{printable(asked, MOST_SHOWN)} leads to nothing; shown is {holder}.",
        icon="unk",
        css="unk",
    )


def where_text(place: DocumentPlace) -> str:
    """Say which lines of the document are those of the node."""
    if place.first == place.last:
        return f"Line {place.first:,} of {place.total:,}"
    return f"Lines {place.first:,}–{place.last:,} of {place.total:,}"


def shown_lines(place: DocumentPlace, revision: int) -> tuple[ShownLine, ...]:
    """Return the lines with their addresses."""
    return tuple(
        ShownLine(
            line,
            line.text[: len(line.text) - len(line.text.lstrip())],
            line.text.lstrip(),
            "" if line.at is None else place_query(line.at, revision, line.page),
            line.is_marked and line.number == place.first,
        )
        for line in place.lines
    )


def crumbs_of(place: DocumentPlace, revision: int) -> tuple[tuple[str, str], ...]:
    """Return the steps to the node, each with its address; the whole document first, the node itself without one."""
    crumbs, at = [("document", place_query("", revision))], ""
    for step in steps(place.at):
        at = child(at, step)
        crumbs.append((step, place_query(at, revision)))
    return (*crumbs[:-1], (crumbs[-1][0], ""))


def pages_of(place: DocumentPlace, revision: int) -> tuple[tuple[str, str], ...]:
    """Return the ways on: pages of the members, and the neighbours of the node."""
    ways = [
        ("Earlier members", place.page > 1, place.at, place.page - 1),
        ("Next members", place.page < place.pages, place.at, place.page + 1),
        (f"Earlier: {last_step(place.before)}", place.before is not None, place.before, None),
        (f"Next: {last_step(place.after)}", place.after is not None, place.after, None),
    ]
    return tuple((text, place_query(at or "", revision, page)) for text, is_there, at, page in ways if is_there)


def last_step(pointer: str | None) -> str:
    """Return the name of what a pointer leads to, short enough for a link."""
    name = (steps(pointer or "") or ("",))[-1]
    return name if len(name) <= 40 else f"{name[:40]}…"
