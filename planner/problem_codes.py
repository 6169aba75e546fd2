"""Every code a problem can have, with what it means. Codes are stable: they are documented and stored.

``docs/documents/problem-codes.md`` holds ``codes_table()``; a test keeps both equal, and another one finds every
code that is raised.
"""

__all__ = ["PROBLEM_CODES", "codes_table"]

PROBLEM_CODES: dict[str, str] = {
    "json/size": "The file is larger than 64 MiB.",
    "json/values": "The file holds more than 8,000,000 values.",
    "json/byte_order_mark": "The file starts with a byte-order mark.",
    "json/encoding": "The bytes are not UTF-8.",
    "json/depth": "Objects and arrays are nested deeper than 64.",
    "json/syntax": "The text is not JSON; line and column say where.",
    "json/trailing_data": "Something follows the JSON value.",
    "json/duplicate_key": "A key stands more than once in one object.",
    "json/constant": "NaN or an infinity, which JSON does not have.",
    "json/overflow": "A number is beyond the range of a double.",
    "json/underflow": "A number is not 0 but so near that a double would be.",
    "json/integer_range": "An integer, however it is written, is beyond 2^53 - 1 or below the negative of it.",
    "json/number_length": "A number is written in more than 1,024 characters.",
    "json/lone_surrogate": "A text holds half of a surrogate pair.",
    "document/precision": "A number is written with digits that its double cannot hold.",
    "document/nul": "A text holds NUL.",
    "document/bidi_control": "A text holds a control that reverses how it is read.",
    "document/control_character": "A text holds a control character other than tab, line feed and carriage return.",
    "document/schema": "The file is not the kind of document that is asked for.",
    "document/unknown_field": "The document has a field that the schema does not have.",
    "document/missing_field": "A field is absent that is always needed, or that another field makes necessary.",
    "document/type": "A value is of another JSON type. An integer is written without point and exponent.",
    "document/range": "A number is below the lowest or above the highest allowed.",
    "document/pattern": "A text does not have the form that is asked for.",
    "document/length": "A text, array or object is shorter or longer than allowed.",
    "document/enumeration": "A value is none of those allowed.",
    "document/key": "A key of a collection is no valid id or name.",
    "document/fields": "Fields of one object do not go together; the message says what is wanted.",
    "document/exclusive_fields": "Of fields that exclude each other, not exactly one is given.",
    "document/repeated": "A list that is a set holds an entry twice.",
    "document/unknown_reference": "A name leads to nothing in the document or its contract.",
    "document/unknown_gate": "There is no gate of this id that takes limits.",
    "document/confusable_id": "An id looks like another one of the same collection.",
    "document/time": "A time does not exist, or a window ends before it starts.",
    "document/rank_order": "A rank is not at its own position in rank_map.",
    "document/duplicate_trial": "Two trials have the same body.",
    "document/other_contract": "The evidence is bound to another contract.",
    "document/other_slot": "The evidence was made for another slot than the contract's.",
    "document/plan_id": "A plan does not have the content id that it states.",
    "document/override": "An override is of something that the contract, the evidence or the command does not have.",
    "document/more_problems": "There are more than 1,000 problems; the rest is not listed.",
    "hardware/size": "A file of hardware is larger than 2 MiB, or shows more than is read: the message says of what.",
    "hardware/format": "The file is none of the topology outputs that are read, or of two at once.",
    "hardware/no_device": "The file shows no device.",
    "hardware/header": "The names of the columns are damaged, lost, or not those of another table.",
    "hardware/row": "A line of a table has no name, or one that the table does not have.",
    "hardware/missing_row": "A table is cut: a row or pair that it names is not there.",
    "hardware/cell": "A row has too few or too many cells, or one that the tool does not print.",
    "hardware/diagonal": "A name does not meet itself where it should.",
    "hardware/symmetry": "Two places say different things of the same pair.",
    "hardware/repeated": "A row, column, device or value stands twice.",
    "hardware/attribute": "An attribute of an element is not of its form.",
    "hardware/xml": "The text is not well-formed XML.",
    "hardware/xml_forbidden": "The XML has a document type, and with it perhaps entities, which are never read.",
    "hardware/depth": "Elements are nested deeper than 64.",
    "file/unreadable": "The command line was given a file that is not there or cannot be read.",
}


def codes_table() -> str:
    """Return the codes as a Markdown table."""
    rows = [f"| `{code}` | {meaning} |" for code, meaning in PROBLEM_CODES.items()]
    return "\n".join(["| code | meaning |", "|---|---|", *rows, ""])
