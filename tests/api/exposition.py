"""Reads Prometheus's text format 0.0.4 by its description, strictly, and with nothing of the client that wrote it.

https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format
"""

import re
from collections.abc import Mapping

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
SAMPLE = re.compile(rf"({NAME})(?:\{{(.*)\}})? ([^ ]+)")
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)')
HELP = re.compile(rf"# HELP ({NAME}) ((?:[^\\\n]|\\[\\n])*)")
TYPE = re.compile(rf"# TYPE ({NAME}) (gauge|counter|histogram|summary|untyped)")
ESCAPED = {'\\"': '"', "\\\\": "\\", "\\n": "\n"}

Labels = Mapping[str, str]


class Exposition:
    """Samples by name, and the type of each metric; every sample follows the HELP and TYPE of its metric."""

    def __init__(self, text: str) -> None:
        assert text.endswith("\n")
        self.types: dict[str, str] = {}
        self.samples: dict[str, list[tuple[Labels, float]]] = {}
        helped = ""
        for line in text.removesuffix("\n").split("\n"):
            if line.startswith("# HELP"):
                helped = _matched(HELP, line).group(1)
                assert helped not in self.samples, f"{helped} is described twice"
                self.samples[helped] = []
            elif line.startswith("# TYPE"):
                name, kind = _matched(TYPE, line).groups()
                assert name == helped, f"{name} has no help"
                self.types[name] = kind
            else:
                name, labels, value = _matched(SAMPLE, line).groups()
                assert name == helped, f"{name} stands among the samples of {helped}"
                self.samples[name].append((_labels(labels or ""), float(value)))
        for name, samples in self.samples.items():
            keys = [tuple(sorted(labels.items())) for labels, _ in samples]
            assert len(keys) == len(set(keys)), f"{name} has the same labels twice"

    def value(self, name: str, **labels: str) -> float | None:
        """Return the value of the one sample that has these labels among its own, None where there is none."""
        found = [value for own, value in self.samples[name] if labels.items() <= own.items()]
        assert len(found) < 2, f"{name} has {len(found)} samples with {labels}"
        return found[0] if found else None


def _labels(text: str) -> Labels:
    found: dict[str, str] = {}
    at = 0
    while at < len(text):
        match = LABEL.match(text, at)
        assert match, f"no label: {text[at:]}"
        assert match.group(1) not in found, f"{match.group(1)} stands twice"
        found[match.group(1)] = re.sub(r"\\[\"\\n]", lambda escaped: ESCAPED[escaped.group()], match.group(2))
        at = match.end()
    return found


def _matched(pattern: re.Pattern[str], line: str) -> re.Match[str]:
    match = pattern.fullmatch(line)
    assert match, f"no line of the format: {line!r}"
    return match
