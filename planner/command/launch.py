"""``topogate launch``: the launch configuration of the topology that a plan selects.

Exit 0 where every rank is started where it was decided, 1 where an engine cannot start the decided rank map; 2 where
there is no launch of it for the target.
"""

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from planner.command.base import Command, Exit, Refused, add_format, json_line, opened, print_refused
from planner.command.opening import utc_time
from planner.intake import read_contract, read_evidence, read_plan
from planner.launch import TARGETS, LaunchConfiguration, LaunchRefusedError, launch_configuration, planned_trial
from planner.launch.written import launch_tree


def _configure(parser: ArgumentParser) -> None:
    parser.add_argument("contract", metavar="CONTRACT", help="contract file")
    parser.add_argument("evidence", metavar="EVIDENCE", help="evidence file")
    parser.add_argument("plan", metavar="PLAN", help="plan of both, as topogate plan --format json prints it")
    parser.add_argument("--for", dest="target", choices=TARGETS, required=True, help="what starts it")
    parser.add_argument("--decision", metavar="NAME", help="decision in force, such as D-0012, to label it with")
    parser.add_argument("--subject", metavar="DIGEST", help="subject of the decision's revision")
    parser.add_argument("--expires", type=utc_time, metavar="TIME", help="until when the decision holds")
    parser.add_argument("--output", metavar="FOLDER", help="write the files there; none may be there already")
    add_format(parser)


def _run(arguments: Namespace) -> int:
    refused: Refused = {}
    contract = opened(read_contract, arguments.contract, refused)
    evidence = opened(lambda raw: read_evidence(raw, contract), arguments.evidence, refused)
    plan = opened(read_plan, arguments.plan, refused)
    if contract is None or evidence is None or plan is None:
        print_refused(refused, arguments.format)
        return Exit.BAD_INPUT
    try:
        trial_id, _ = planned_trial(contract, evidence, plan)
        made = launch_configuration(
            contract,
            evidence,
            trial_id,
            arguments.target,
            plan_id=str(plan.plan_id),
            decision=arguments.decision,
            subject=arguments.subject,
            expires_at=arguments.expires,
        )
        if arguments.output is not None:
            _write(made, Path(arguments.output))
    except (LaunchRefusedError, OSError) as error:
        print(f"topogate: {error}", file=sys.stderr)
        return Exit.BAD_INPUT
    if arguments.format == "json":
        print(json_line(launch_tree(made)))
    elif arguments.output is None:
        several = len(made.files) > 1
        print("\n".join(f"# file: {file.name}\n{file.text}" if several else file.text for file in made.files), end="")
    return Exit.OK if made.is_exact else Exit.NO


def _write(made: LaunchConfiguration, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for file in made.files:
        with (folder / file.name).open("x", encoding="utf-8") as written:
            written.write(file.text)


COMMAND = Command(id="launch", help="say the selected topology in an engine's words", configure=_configure, run=_run)
