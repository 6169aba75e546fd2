"""XML from anyone, as a small tree with line numbers.

Rules kept: no document type, so no entities but the five of XML, nothing fetched; bounded size, depth and count of
elements, checked while reading. Text between elements is not kept. Not handled: what the elements mean.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from xml.sax import SAXParseException
from xml.sax.handler import ContentHandler
from xml.sax.xmlreader import AttributesImpl, Locator

from defusedxml import DefusedXmlException
from defusedxml.expatreader import DefusedExpatParser

from planner.errors import DocumentRefusedError, Problem
from planner.hardware.lines import refuse
from planner.shown import shown

__all__ = ["MAX_DEPTH", "MAX_ELEMENTS", "Element", "xml_tree"]

MAX_DEPTH = 64
MAX_ELEMENTS = 100_000
"""A rack of 72 devices has about 2,000; trees of PCIe bridges are about ten deep."""


@dataclass(frozen=True, slots=True)
class Element:
    """An element: its name, its attributes, the line it starts in, what is inside it."""

    tag: str
    attributes: Mapping[str, str]
    line: int
    children: list["Element"] = field(default_factory=list)

    def all(self, tag: str) -> Iterator["Element"]:
        """Yield the direct children of this name."""
        return (child for child in self.children if child.tag == tag)


def xml_tree(text: str) -> Element:
    """Return the root element.

    Raises:
        DocumentRefusedError: not well-formed, too large, too deep, or with what is never read.
    """
    parser = DefusedExpatParser(forbid_dtd=True, forbid_entities=True, forbid_external=True)
    tree = _Tree(parser)
    parser.setContentHandler(tree)
    try:
        parser.feed(text)
        parser.close()
    except DefusedXmlException:
        # An entity is declared inside a document type, so that is what the parser meets first.
        refuse("hardware/xml_forbidden", "no document type", "one", parser.getLineNumber())
    except SAXParseException as error:
        found = shown(error.getMessage(), quote=False)
        refuse("hardware/xml", "well-formed XML", found, error.getLineNumber(), (error.getColumnNumber() or 0) + 1)
    if tree.root is None:
        refuse("hardware/xml", "well-formed XML", "no element")
    return tree.root


class _Tree(ContentHandler):
    """Builds the tree, and stops where a limit is passed."""

    def __init__(self, place: Locator) -> None:
        super().__init__()
        self.root: Element | None = None
        self._place = place
        self._open: list[Element] = []
        self._count = 0

    def startElement(self, name: str, attrs: AttributesImpl) -> None:  # noqa: N802  # the interface's name
        self._count += 1
        if len(self._open) >= MAX_DEPTH:
            raise DocumentRefusedError((self._limit("hardware/depth", f"nesting of at most {MAX_DEPTH}"),))
        if self._count > MAX_ELEMENTS:
            raise DocumentRefusedError((self._limit("hardware/size", f"at most {MAX_ELEMENTS:,} elements"),))
        element = Element(name, dict(attrs.items()), self._line())
        if self._open:
            self._open[-1].children.append(element)
        else:
            self.root = element
        self._open.append(element)

    def endElement(self, name: str) -> None:  # noqa: N802  # the interface's name
        self._open.pop()

    def _limit(self, code: str, expected: str) -> Problem:
        return Problem(code, "", expected, "more", self._line())

    def _line(self) -> int:
        return self._place.getLineNumber() or 1
