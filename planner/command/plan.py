"""``topogate plan``: decide from a contract and its evidence, without a server.

Standard output holds the result alone: the lines of the text form, or the plan's canonical JSON. What a reader should
know beside it (what is undeclared, contenders, the as-of time) goes to standard error.
"""

import sys
from argparse import ArgumentParser, Namespace

from planner.command.base import Command, Exit, add_format
from planner.command.opening import add_documents, as_of, opened_documents
from planner.documents import ContractDocument
from planner.explanation import plan_explained
from planner.plan import plan_bytes, plan_parallelism
from planner.records.plan import DecisionWord, Plan
from planner.text import plan_remarks, plan_text

EXIT: dict[DecisionWord, Exit] = {
    "SELECT_TOPOLOGY": Exit.OK,
    "NO_ELIGIBLE_TOPOLOGY": Exit.NONE_ELIGIBLE,
    "INCONCLUSIVE": Exit.INCONCLUSIVE,
}


def _configure(parser: ArgumentParser) -> None:
    add_documents(parser)
    parser.add_argument("--explain", action="store_true", help="also print every gate of every candidate (text)")
    add_format(parser)


def _run(arguments: Namespace) -> int:
    documents = opened_documents(arguments)
    if documents is None:
        return Exit.BAD_INPUT
    plan = plan_parallelism(*documents, as_of(arguments))
    if arguments.format == "json":
        print(plan_bytes(plan).decode())
    else:
        _print_text(plan, documents[0], explain=arguments.explain)
    return EXIT[plan.decision]


def _print_text(plan: Plan, contract: ContractDocument, *, explain: bool) -> None:
    print(plan_text(plan, contract.record), end="")
    if explain:
        print(f"\n{plan_explained(plan)}", end="")
    # On a terminal both streams share the screen: the decision first, then what to know beside it.
    sys.stdout.flush()
    for remark in plan_remarks(plan):
        print(remark, file=sys.stderr)


COMMAND = Command(id="plan", help="decide which measured topology to use", configure=_configure, run=_run)
