"""The two documents that a subcommand decides from, and the time it decides at.

Both files are read and judged before one is refused, so that a person corrects them once. The clock is read here, for
the default of ``--as-of``, and nowhere deeper.
"""

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from datetime import UTC, datetime

from planner.command.base import Refused, opened, print_refused
from planner.documents import ContractDocument, EvidenceDocument
from planner.intake import read_contract, read_evidence
from planner.times import parsed_time, time_text

__all__ = ["add_documents", "as_of", "opened_documents", "utc_time"]


def add_documents(parser: ArgumentParser) -> None:
    """Add ``CONTRACT EVIDENCE [--as-of TIME]``."""
    parser.add_argument("contract", metavar="CONTRACT", help="contract file")
    parser.add_argument("evidence", metavar="EVIDENCE", help="evidence file")
    parser.add_argument(
        "--as-of", type=utc_time, metavar="TIME", help="judge the age of evidence at this UTC time (default: now)"
    )


def utc_time(text: str) -> str:
    """Take a time of the command line; raises ArgumentTypeError for any other text."""
    if parsed_time(text) is None:
        raise ArgumentTypeError(f"expected a UTC time such as 2026-11-28T17:12:00Z, found {text!r}")
    return text


def as_of(arguments: Namespace) -> str:
    """Return the time that was given, else now."""
    return arguments.as_of or time_text(datetime.now(UTC).replace(microsecond=0))


def opened_documents(arguments: Namespace) -> tuple[ContractDocument, EvidenceDocument] | None:
    """Return both documents; None where one is refused, after every problem of both was printed."""
    refused: Refused = {}
    contract = opened(read_contract, arguments.contract, refused)
    evidence = opened(lambda raw: read_evidence(raw, contract), arguments.evidence, refused)
    if contract is None or evidence is None:
        print_refused(refused, arguments.format)
        return None
    return contract, evidence
