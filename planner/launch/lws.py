"""A launch as LeaderWorkerSet objects of Kubernetes (``leaderworkerset.x-k8s.io/v1``): one set of one group an engine.

Rules kept: the leader is the first node, workers are the others; each pod has a node to itself. A set has one template
for all workers, so which worker takes which node is expressed only where there is one worker; words in which workers
differ are computed from their index. Devices are given out by the device plugin: their order is asked for only where
all devices of the node are used. Text of documents is kept from the expansion of ``$(NAME)``.
"""

from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any

import yaml

from planner.launch.base import Engine, Label, Start, Unsaid
from planner.launch.engines import VISIBLE, variable_name
from planner.launch.script import labels, mpi_words
from planner.matrix.words import HEAD, Variable, Word
from planner.records.base import stated
from planner.records.contract import Contract

__all__ = ["ARGUMENTS", "MEANINGS", "lws_documents", "lws_text"]

IMAGE = Variable("TOPOGATE_IMAGE")
RESOURCE = Variable("TOPOGATE_DEVICE_RESOURCE")
ARGUMENTS = Variable("TOPOGATE_ENGINE_ARGUMENTS")
"""A JSON list, which as YAML is the ``args`` that Kubernetes puts after the command, each one word."""
WORKER_COMMAND = Variable("TOPOGATE_WORKER_COMMAND")
MEANINGS = {
    IMAGE.name: "image with the contract's engine, by digest",
    RESOURCE.name: "what the device plugin calls the devices, such as nvidia.com/gpu",
    WORKER_COMMAND.name: "what keeps a worker's pod reachable for mpirun, such as an SSH server",
}
LEADER = "$(LWS_LEADER_ADDRESS)"
INDEX = "$(LWS_WORKER_INDEX)"
ARITHMETIC = 'exec "$@" {} "$$((LWS_WORKER_INDEX * {}))"'
FOLDER = "/topogate"
MOST = 40
"""Characters of a slot in a name: pods add theirs, and a label of DNS has 63."""
DIGEST = 8
"""Those of them that are of the digest of a slot that names cannot spell: applying a set must not replace another's."""


def lws_text(documents: Sequence[Mapping[str, Any]], comments: Sequence[str]) -> str:
    """Return the documents as YAML after comment lines."""
    head = "".join(f"# {line}\n" for line in comments)
    body = yaml.safe_dump_all(documents, sort_keys=False, default_flow_style=False, width=1000, explicit_start=True)
    return f"{head}{body}"


def lws_documents(
    contract: Contract, label: Label, engines: Sequence[Engine]
) -> tuple[list[dict[str, Any]], list[Unsaid], list[Unsaid]]:
    """Return the objects, why ranks may sit elsewhere than decided, and what else is not expressed."""
    documents: list[dict[str, Any]] = []
    moved: list[Unsaid] = []
    unsaid: list[Unsaid] = []
    for engine in engines:
        if engine.starts:
            made = _Set(contract, label, engine)
            documents += made.documents()
            moved += made.moved()
            unsaid += made.unsaid()
    at = "volumes"
    unsaid.append(Unsaid(at=at, sentence="Volumes (model files, shared memory), probes and services are yours to add."))
    if label.expires_at is not None:
        sentence = f"Pods are labelled with {label.expires_at}, and start after it too: a set does not end by itself."
        unsaid.append(Unsaid(at="expiry", sentence=sentence))
    return documents, moved, unsaid


class _Set:
    """One engine's set."""

    def __init__(self, contract: Contract, label: Label, engine: Engine) -> None:
        self.contract, self.label, self.engine = contract, label, engine
        self.name = f"{_named(label.slot)}-{engine.role}-{engine.index}"
        self.leader, *self.workers = engine.starts

    def documents(self) -> Iterator[dict[str, Any]]:
        """Yield the set, after the settings of its engine."""
        if self.engine.settings:
            data = {self.engine.settings_file: yaml.safe_dump(dict(self.engine.settings), sort_keys=False)}
            yield {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"{self.name}-settings"}, "data": data}
        template: dict[str, Any] = {"size": len(self.engine.starts), "restartPolicy": "RecreateGroupOnPodRestart"}
        leader = self._pod([self.leader], self._leader_words())
        if self.workers:
            template["leaderTemplate"] = leader
            template["workerTemplate"] = self._pod(self.workers, self._worker_words())
        else:
            template["workerTemplate"] = leader
        yield {
            "apiVersion": "leaderworkerset.x-k8s.io/v1",
            "kind": "LeaderWorkerSet",
            "metadata": {"name": self.name, "annotations": self._annotations()},
            "spec": {"replicas": 1, "leaderWorkerTemplate": template},
        }

    def moved(self) -> Iterator[Unsaid]:
        """Yield why ranks may sit elsewhere than decided."""
        at = f"instance {self.engine.index}"
        if len(self.workers) > 1:
            nodes = ", ".join(start.node for start in self.workers)
            sentence = f"Which worker takes which of {nodes} is the scheduler's choice, and with it the order of ranks."
            yield Unsaid(at=at, sentence=sentence)
        for start in self.engine.starts:
            if not self._whole(start):
                devices = ", ".join(start.devices)
                sentence = f"Devices {devices} of {start.node} cannot be asked for: the device plugin chooses."
                yield Unsaid(at=at, sentence=sentence)
        if len({len(start.devices) for start in self.workers}) > 1:
            yield Unsaid(at=at, sentence="Workers take different numbers of devices; one template has one number.")
        if self._orders(self.workers) is None:
            yield Unsaid(at=at, sentence="Workers take their devices in different orders; one template has one order.")

    def unsaid(self) -> Iterator[Unsaid]:
        """Yield what else the set does not express."""
        at = f"instance {self.engine.index}"
        if self.engine.from_one_node:
            sentence = "mpirun needs a way into every pod, such as SSH, that the image has to offer."
            yield Unsaid(at=at, sentence=sentence)
            if self.engine.left:
                sentence = f"To be added to the words of every node by hand: {'; '.join(self.engine.left)}."
                yield Unsaid(at=at, sentence=sentence)
        recovery = stated(self.contract.recovery)
        if recovery is not None and recovery.on_rank_loss != "restart_group":
            sentence = (
                f"On the loss of a pod its group is made anew; decided: {recovery.on_rank_loss.replace('_', ' ')}."
            )
            yield Unsaid(at=at, sentence=sentence)

    def _annotations(self) -> dict[str, str]:
        return {
            f"topogate/{name.removeprefix('TOPOGATE_').lower()}": value for name, value in labels(self.label).items()
        }

    def _pod(self, starts: Sequence[Start], words: list[str]) -> dict[str, Any]:
        mine = {"topogate-set": self.name}
        hosts = [f"${{TOPOGATE_HOST_{variable_name(start.node)}}}" for start in starts]
        wanted = {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": hosts}]}
        container: dict[str, Any] = {
            "name": "engine",
            "image": f"${{{IMAGE.name}}}",
            "command": words,
            "env": self._environment(starts),
            "resources": {"limits": {f"${{{RESOURCE.name}}}": str(len(starts[0].devices))}},
        }
        spec: dict[str, Any] = {
            "affinity": {
                "nodeAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [wanted]},
                },
                "podAntiAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": [
                        {"labelSelector": {"matchLabels": dict(mine)}, "topologyKey": "kubernetes.io/hostname"}
                    ],
                },
            },
            "containers": [container],
        }
        if self.engine.left and not self.engine.from_one_node:
            container["args"] = f"${{{ARGUMENTS.name}}}"
        if self.engine.settings:
            container["volumeMounts"] = [{"name": "settings", "mountPath": FOLDER}]
            spec["volumes"] = [{"name": "settings", "configMap": {"name": f"{self.name}-settings"}}]
        return {"metadata": {"labels": mine, "annotations": self._annotations()}, "spec": spec}

    def _environment(self, starts: Sequence[Start]) -> list[dict[str, str]]:
        found = {name: _escaped(value) for name, value in labels(self.label).items()}
        for name, value in starts[0].environment.items():
            if name != VISIBLE:
                found[name] = _text(value)
        order = self._orders(starts)
        if order is not None and all(map(self._whole, starts)):
            found[VISIBLE] = _text(order)
        return [{"name": name, "value": value} for name, value in found.items()]

    def _orders(self, starts: Sequence[Start]) -> Word | None:
        """Return the order of devices that all pods of a template share; None where they differ."""
        orders = {start.environment[VISIBLE] for start in starts}
        return orders.pop() if len(orders) == 1 else "" if not orders else None

    def _whole(self, start: Start) -> bool:
        """Say whether a pod takes every device of its node."""
        devices = self.contract.identity.hardware.devices
        return len(start.devices) == sum(device.node == start.node for device in devices.values())

    def _leader_words(self) -> list[str]:
        if not self.engine.from_one_node:
            return [self._word(word) for word in self.leader.words]
        hosts: dict[str, Word] = {
            start.node: f"{self.name}-0-{at}.{self.name}" if at else f"{self.name}-0.{self.name}"
            for at, start in enumerate(self.engine.starts)
        }
        return [self._word(word) for word in mpi_words(self.engine, hosts)]

    def _worker_words(self) -> list[str]:
        if self.engine.from_one_node:
            return ["sh", "-c", f"${{{WORKER_COMMAND.name}}}"]
        first, *rest = [[self._word(word) for word in start.words] for start in self.workers]
        differing = [at for at, word in enumerate(first) if any(words[at] != word for words in rest)]
        if not differing:
            return first
        # Workers differ in one number, their index times what each of them counts.
        (at,) = differing
        if first[at] == "1":
            return [*first[:at], INDEX, *first[at + 1 :]]
        script = ARITHMETIC.format(first[at - 1], first[at])
        return ["sh", "-c", script, first[0], *first[: at - 1], *first[at + 1 :]]

    def _word(self, word: Word) -> str:
        text = _text(word)
        heads = (f"${{{HEAD.name}}}", f"${{TOPOGATE_HEAD_{self.engine.index}}}")
        for head in heads:
            text = text.replace(head, LEADER)
        return f"{FOLDER}/{text}" if self.engine.settings and text == self.engine.settings_file else text


def _named(slot: str) -> str:
    """Return a slot as a part of names; slots that are spelled alike there are told apart by their digests."""
    spelled = "".join(character if character.isalnum() else "-" for character in slot.lower() if character < "\x7f")
    spelled = spelled.strip("-")[:MOST].rstrip("-")
    # The name is one of a service too, and that begins with a letter.
    spelled = spelled if spelled[:1].isalpha() else f"slot-{spelled}".rstrip("-")
    if spelled == slot:
        return slot
    return f"{spelled[: MOST - DIGEST - 1].rstrip('-')}-{sha256(slot.encode()).hexdigest()[:DIGEST]}"


def _text(word: Word) -> str:
    parts = word if isinstance(word, tuple) else (word,)
    return "".join(f"${{{part.name}}}" if isinstance(part, Variable) else _escaped(part) for part in parts)


def _escaped(text: str) -> str:
    """Keep text from the expansion of ``$(NAME)``, in which ``$$`` is one ``$``."""
    return text.replace("$", "$$")
