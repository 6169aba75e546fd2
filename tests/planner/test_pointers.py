"""JSON pointers: what stands inside of what."""

import pytest

from planner.pointers import is_below


@pytest.mark.parametrize(
    ("pointer", "above", "answer"),
    [
        pytest.param("/stack", ("/stack",), True, id="the same"),
        pytest.param("/stack/driver/version", ("/model", "/stack"), True, id="inside of one of several"),
        pytest.param("/stacked", ("/stack",), False, id="a name that only begins so"),
        pytest.param("/stack", ("/stack/driver",), False, id="around it"),
        pytest.param("/stack", (), False, id="of none"),
    ],
)
def test_a_pointer_is_below_whole_steps_alone(pointer: str, above: tuple[str, ...], answer: bool) -> None:
    assert is_below(pointer, *above) is answer
