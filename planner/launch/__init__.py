"""The launch configuration of a selected topology, for vLLM, SGLang, TensorRT-LLM and Kubernetes LeaderWorkerSet.

Nothing here is a decision: it says a decided rank map in an engine's words, what is left to fill in, and what those
words do not express.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import yaml

from planner.documents import ContractDocument, EvidenceDocument
from planner.launch import lws
from planner.launch.base import (
    TARGETS,
    Engine,
    File,
    Label,
    LaunchConfiguration,
    LaunchRefusedError,
    Start,
    Target,
    Unsaid,
)
from planner.launch.engines import engines_of, meanings, port_of
from planner.launch.extras import KV_CONNECTOR, LISTEN
from planner.launch.literal import spelled
from planner.launch.script import GIVEN, label_lines, left_settings, shell_script, unsaid_lines
from planner.launch.unsaid import unsaid_of
from planner.layouts import LAYOUTS
from planner.matrix.words import VARIABLES
from planner.rankmap import derived_name, rank_map_digest
from planner.records.contract import Contract
from planner.records.evidence import LayoutName, Trial
from planner.records.plan import Plan
from planner.shown import printable, shown

__all__ = [
    "TARGETS",
    "Engine",
    "File",
    "Label",
    "LaunchConfiguration",
    "LaunchRefusedError",
    "Start",
    "Target",
    "Unsaid",
    "launch_configuration",
    "planned_trial",
    "refusal",
]

ROUTER_PORT = "TOPOGATE_ROUTER_PORT"
OWN = {
    ROUTER_PORT: "port that the router of the pools listens on",
    KV_CONNECTOR.name: "how KV moves from the prefill to the decode pool, in the engine's word",
    LISTEN.name: "address that the server listens on",
}
_NAMED = re.compile(r"\$\{(TOPOGATE_[A-Z0-9_]+)\}")


def planned_trial(contract: ContractDocument, evidence: EvidenceDocument, plan: Plan) -> tuple[str, Trial]:
    """Return the trial that a plan selects.

    Raises:
        LaunchRefusedError: the plan selects none, or is not of these documents.
    """
    if plan.contract.content_id != contract.content_id:
        raise LaunchRefusedError(
            f"expected the plan of contract {contract.content_id}, found {plan.contract.content_id}"
        )
    if plan.evidence.content_id != evidence.content_id:
        raise LaunchRefusedError(
            f"expected the plan of evidence {evidence.content_id}, found {plan.evidence.content_id}"
        )
    if plan.selected is None:
        raise LaunchRefusedError(f"expected a plan that selects a topology, found {plan.decision}")
    return plan.selected.trial, evidence.record.trials[plan.selected.trial]


def launch_configuration(
    contract: ContractDocument,
    evidence: EvidenceDocument,
    trial_id: str,
    target: Target,
    *,
    plan_id: str,
    decision: str | None = None,
    subject: str | None = None,
    expires_at: str | None = None,
) -> LaunchConfiguration:
    """Return the launch of a trial. ``decision``, ``subject`` and ``expires_at`` are what it is labelled with.

    Raises:
        LaunchRefusedError: the trial was measured with another engine than the target, no engine has a command, or a
            text of the documents spells a variable that would be filled in.
        KeyError: there is no such trial.
    """
    trial = evidence.record.trials[trial_id]
    refused = refusal(trial_id, trial.topology.layout, target)
    if refused is not None:
        raise LaunchRefusedError(refused)
    stack = contract.record.identity.stack.engine
    label = Label(
        slot=contract.record.slot,
        trial=trial_id,
        topology=derived_name(trial.topology),
        rank_map_digest=rank_map_digest(trial.rank_map),
        contract=contract.content_id,
        evidence=evidence.content_id,
        plan=plan_id,
        engine=f"{stack.name} {stack.version}",
        decision=decision,
        subject=subject,
        expires_at=expires_at,
    )
    return _Configured(contract.record, trial, label, target).configuration()


def refusal(trial_id: str, layout: LayoutName, target: Target) -> str | None:
    """Say why a trial of a layout has no launch for a target; None where it has one."""
    found = LAYOUTS[layout].title
    if layout not in TARGETS:
        return f"No command is known that starts {found}, with which {trial_id} ran"
    if target not in ("lws", layout):
        return f"{trial_id} was measured with {found}: expected a launch for it, found one for {LAYOUTS[target].title}"
    return None


class _Configured:
    """Puts a configuration together: its files name variables, and those are what is to be filled in."""

    def __init__(self, contract: Contract, trial: Trial, label: Label, target: Target) -> None:
        self.contract, self.trial, self.label, self.target = contract, trial, label, target
        self.title = LAYOUTS[trial.topology.layout].title
        self.engines, not_started, self.faults = engines_of(contract, trial)
        self.is_exact = all(engine.starts for engine in self.engines)
        self.unsaid = [*not_started, *_pools(self.engines), *unsaid_of(contract, trial)]
        text = spelled(label, self.engines, [each.sentence for each in self.unsaid])
        if text is not None:
            raise LaunchRefusedError(f"expected texts that spell no variable of a launch, found {shown(text)}")

    def configuration(self) -> LaunchConfiguration:
        """Return it."""
        files, to_fill = self._lws() if self.target == "lws" else self._script()
        return LaunchConfiguration(
            target=self.target,
            label=self.label,
            is_exact=self.is_exact,
            engines=self.engines,
            to_fill=to_fill,
            unsaid=tuple(self.unsaid),
            faults=self.faults,
            files=files,
        )

    def _lws(self) -> tuple[tuple[File, ...], Mapping[str, str]]:
        documents, moved, lacking = lws.lws_documents(self.contract, self.label, self.engines)
        self.is_exact = self.is_exact and not moved
        self.faults = (*moved, *self.faults)
        self.unsaid[:0] = moved
        self.unsaid += lacking
        to_fill = self._named(lws.lws_text(documents, ()))
        names = " ".join(f"${name}" for name in to_fill)
        title = f"LeaderWorkerSet with {self.title}"
        comments = [*label_lines(self.label, title), *unsaid_lines(to_fill, self.unsaid)]
        comments.append(f"envsubst '{names}' < lws.yaml | kubectl apply -f -")
        text = lws.lws_text(documents, [printable(line) for line in comments])
        return (File(name="lws.yaml", text=text),), to_fill

    def _script(self) -> tuple[tuple[File, ...], Mapping[str, str]]:
        files = [
            File(name=engine.settings_file, text=yaml.safe_dump(dict(engine.settings), sort_keys=False))
            for engine in self.engines
            if engine.settings and engine.starts
        ]
        files += self._pools_file()
        bare = shell_script(self.label, self.engines, {}, (), title=self.title)
        to_fill = self._named("".join((bare, *(file.text for file in files))))
        left = left_settings(self.engines)
        to_fill |= {GIVEN: f"words of the engine, after instance and node, that set {left}"} if left else {}
        text = shell_script(self.label, self.engines, to_fill, self.unsaid, title=self.title)
        return (File(name="launch.sh", text=text), *files), to_fill

    def _pools_file(self) -> Iterator[File]:
        """Yield what ``trtllm-serve disaggregated`` reads: the servers of both pools."""
        if self.trial.topology.layout != "trtllm" or not any(engine.role != "serve" for engine in self.engines):
            return
        pools = {"context_servers": "prefill", "generation_servers": "decode"}
        tree: dict[str, Any] = {"hostname": f"${{{LISTEN.name}}}", "port": f"${{{ROUTER_PORT}}}"}
        for name, role in pools.items():
            held = [engine for engine in self.engines if engine.role == role and engine.starts]
            urls = [f"{_host(engine)}:${{{port_of(engine.index).name}}}" for engine in held]
            tree[name] = {"num_instances": len(urls), "urls": urls}
        yield File(name="disaggregated.yaml", text=yaml.safe_dump(tree, sort_keys=False))

    def _named(self, text: str) -> dict[str, str]:
        known = {**VARIABLES, **OWN, **lws.MEANINGS, **meanings(self.contract, self.engines)}
        known[lws.ARGUMENTS.name] = f"JSON list of words of the engine that set {left_settings(self.engines)}"
        return {name: known[name] for name in dict.fromkeys(_NAMED.findall(text)) if name in known}


def _host(engine: Engine) -> str:
    return f"${{TOPOGATE_HEAD_{engine.index}}}"


def _pools(engines: Sequence[Engine]) -> Iterator[Unsaid]:
    if any(engine.role != "serve" for engine in engines):
        router = "trtllm-serve disaggregated -c disaggregated.yaml"
        by = f"; {router} does that" if engines[0].layout == "trtllm" else ""
        yield Unsaid(at="pools", sentence=f"The router that sends requests to the pools is not started here{by}.")
    elif len(engines) > 1:
        yield Unsaid(at="instances", sentence="What shares requests among the instances is not started here.")
