"""Mutation fuzzing of intake: ``python -m tests.fuzz.fuzz_documents [ROUNDS] [SEED]``.

Each round changes a shipped example in a few places, as bytes or as a tree, and reads it. Nothing but a refusal may
be raised; a refusal has documented codes and texts that are safe to show; what is accepted reads back from its
canonical form to the same content id and passes the planner's door. The suite runs a short version.
"""

import json
import random
import sys
from collections import Counter
from collections.abc import Callable
from typing import Any

from planner.canonical import canonical_bytes
from planner.errors import DocumentRefusedError
from planner.intake import read_contract, read_evidence, recheck_contract, recheck_evidence
from planner.problem_codes import PROBLEM_CODES
from planner.strict_json import parse
from tests.planner.documents import EXAMPLES

LITERALS = (
    *("0", "-0", "1", "-1", "1.0", "0.5", "1e3", "1e400", "1e-400", "9007199254740992", "1e16", "NaN", "-Infinity"),
    *("0.1000000000000000055", "true", "false", "null", "[]", "{}", '""', '"x"', '"unknown"', '"saturated"', '"a0"'),
    *('"\\ud800"', '"\\u0000"', '"\\u202e"', '"\u2066"', '"\\u001b[0m"', '"' + "x" * 5000 + '"', "[" * 70 + "]" * 70),
    '{"a": 1, "a": 2}',
)
MARK = "__mark__"
Reader = tuple[Callable[[bytes], Any], Callable[[Any], None]]
READERS: dict[str, Reader] = {
    "contract": (read_contract, recheck_contract),
    "evidence": (read_evidence, recheck_evidence),
}


def main(rounds: int, seed: int) -> Counter[str]:
    """Fuzz and return how often each outcome came up; raises at the first broken promise."""
    chance = random.Random(seed)  # noqa: S311  # reproducible, not secret
    samples = [(kind, path.read_bytes()) for kind in READERS for path in sorted(EXAMPLES.glob(f"*/{kind}.json"))]
    outcomes: Counter[str] = Counter()
    for number in range(rounds):
        kind, sample = chance.choice(samples)
        raw = chance.choice((mutated_bytes, mutated_tree))(sample, chance)
        try:
            outcomes[check(kind, raw)] += 1
        except BaseException:
            sys.stderr.write(f"round {number} of seed {seed}, {kind}: {raw!r}"[:4000] + "\n")
            raise
    return outcomes


def check(kind: str, raw: bytes) -> str:
    """Read the bytes, hold intake to its promises, and return ``accepted`` or the first code."""
    reader, recheck = READERS[kind]
    try:
        document = reader(raw)
    except DocumentRefusedError as refused:
        for problem in refused.problems:
            assert problem.code in PROBLEM_CODES, problem
            assert problem.found.isprintable(), problem
            assert problem.expected.isprintable(), problem
            assert len(problem.found) <= 200, problem
        return refused.problems[0].code
    form = canonical_bytes(parse(raw))
    assert canonical_bytes(parse(form)) == form
    assert reader(form).content_id == document.content_id
    recheck(document)
    return "accepted"


def mutated_bytes(sample: bytes, chance: random.Random) -> bytes:
    """Flip, drop, double or swap a few pieces."""
    raw = bytearray(sample)
    for _ in range(chance.randint(1, 4)):
        start = chance.randrange(len(raw))
        end = start + chance.choice((1, 1, 1, 2, 8, 64))
        action = chance.randrange(4)
        if action == 0:
            raw[start] = chance.randrange(256)
        elif action == 1:
            del raw[start:end]
        elif action == 2:
            raw[start:start] = raw[start:end]
        else:
            raw[start:end] = chance.choice(LITERALS).encode()
    return bytes(raw)


def mutated_tree(sample: bytes, chance: random.Random) -> bytes:
    """Replace, drop, double or rename a few members; a literal may be no JSON."""
    tree = json.loads(sample)
    literals: list[str] = []
    for _ in range(chance.randint(1, 3)):
        container, key = chance.choice(places(tree))
        action = chance.randrange(4)
        if action == 0:
            container.pop(key)
        elif action == 1 and isinstance(container, dict):
            container[chance.choice(("x", "a0", "because", f"{key}s", key[::-1] or "y"))] = container[key]
        else:
            literals.append(chance.choice(LITERALS))
            container[key] = f"{MARK}{len(literals) - 1}"
    text = json.dumps(tree)
    for number, literal in enumerate(literals):
        text = text.replace(f'"{MARK}{number}"', literal)
    return text.encode()


def places(tree: Any) -> list[tuple[Any, Any]]:
    """Return every (container, key or index) of a tree."""
    found: list[tuple[Any, Any]] = []
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        members = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
        for key, item in members:
            found.append((node, key))
            waiting.append(item)
    return found or [({"": tree}, "")]


if __name__ == "__main__":
    arguments = [int(argument) for argument in sys.argv[1:]]
    counted = main(*(arguments + [2000, 1][len(arguments) :]))
    for outcome, times in counted.most_common():
        sys.stdout.write(f"{times:8} {outcome}\n")
