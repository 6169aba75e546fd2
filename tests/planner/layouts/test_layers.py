"""How layers are split over stages."""

from collections.abc import Callable

import pytest

from planner.layouts import LAYOUTS, Degrees, LayoutRefusedError
from planner.layouts.layers import partition_of, ranges, split_even, split_given, split_with_ends


@pytest.mark.parametrize(
    ("engine", "layers", "stages", "expected"),
    [
        pytest.param("vllm", 61, 4, (15, 15, 16, 15), id="vllm spares the last stage"),
        pytest.param("vllm", 11, 4, (3, 3, 3, 2), id="vllm gives three of four one more"),
        pytest.param("vllm", 3, 4, (1, 1, 1, 0), id="vllm leaves a stage empty"),
        pytest.param("sglang", 61, 4, (15, 15, 15, 16), id="sglang loads the last stages"),
        pytest.param("sglang", 11, 4, (2, 3, 3, 3), id="sglang with three more"),
        pytest.param("trtllm", 61, 4, (16, 15, 15, 15), id="trtllm loads the first stages"),
        pytest.param("megatron", 60, 4, (15, 15, 15, 15), id="megatron splits evenly"),
        pytest.param("closed", 60, 4, (15, 15, 15, 15), id="closed splits evenly"),
    ],
)
def test_the_remainder_goes_where_the_engine_puts_it(
    engine: str, layers: int, stages: int, expected: tuple[int, ...]
) -> None:
    assert LAYOUTS[engine].layer_split(Degrees(pp=stages))(layers, stages) == expected


@pytest.mark.parametrize(
    ("split", "constraint", "message"),
    [
        pytest.param(
            lambda: split_even(61, 4),
            "layers",
            "num_layers=61 should be divisible by config.pipeline_model_parallel_size=4",
            id="uneven",
        ),
        pytest.param(
            lambda: split_given(60, 4, (20, 20, 20)),
            "layer_partition",
            "len(partitions)=3 does not match pp_size=4.",
            id="another number of stages",
        ),
        pytest.param(
            lambda: split_given(61, 3, (20, 20, 20)),
            "layer_partition",
            "sum(partitions)=60 does not match num_hidden_layers=61.",
            id="another number of layers",
        ),
        pytest.param(
            lambda: partition_of("20,x"),
            "layer_partition",
            'Invalid partition string: "20,x" is not whole numbers with commas',
            id="no number",
        ),
        pytest.param(
            lambda: split_with_ends(61, 4, first=15, last=0),
            "layers",
            "61 layers with 15 on the first and 0 on the last of 4 stages leave layers that do not split evenly",
            id="the rest is uneven",
        ),
        pytest.param(
            lambda: split_with_ends(9, 2, first=4, last=4),
            "layers",
            "9 layers with 4 on the first and 4 on the last of 2 stages leave layers that do not split evenly",
            id="a layer is left over",
        ),
    ],
)
def test_a_split_that_does_not_work_is_refused(
    split: Callable[[], tuple[int, ...]], constraint: str, message: str
) -> None:
    with pytest.raises(LayoutRefusedError) as refused:
        split()

    assert (refused.value.constraint, refused.value.message) == (constraint, message)


def test_given_ends_leave_an_even_middle() -> None:
    assert split_with_ends(61, 4, first=16, last=13) == (16, 16, 16, 13)
    assert split_with_ends(61, 4, first=0, last=13) == (16, 16, 16, 13)
    assert split_with_ends(9, 2, first=5, last=4) == (5, 4)


def test_a_partition_by_hand_is_taken_as_it_is() -> None:
    assert split_given(10, 3, partition_of("5, 3,2")) == (5, 3, 2)


def test_ranges_are_half_open() -> None:
    assert ranges((3, 2, 0)) == ((0, 3), (3, 5), (5, 5))
