"""How engines split layers over pipeline stages.

One function per rule, layer counts per stage out. Sources stand in ``docs/reference/layouts.md``. Not handled:
stages of unequal speed; a stage also carries the embedding (first) or norm and head (last), which no engine counts.
"""

from itertools import accumulate

from planner.layouts.base import LayoutRefusedError
from planner.shown import shown
from planner.whole_numbers import whole_number

Counts = tuple[int, ...]


def split_even(layers: int, stages: int) -> Counts:
    """Equal stages only (``closed``, Megatron without its uneven options).

    Raises:
        LayoutRefusedError: ``layers`` is not a multiple of ``stages``.
    """
    if layers % stages:
        raise LayoutRefusedError(
            "layers", f"num_layers={layers} should be divisible by config.pipeline_model_parallel_size={stages}"
        )
    return (layers // stages,) * stages


def split_with_ends(layers: int, stages: int, *, first: int, last: int) -> Counts:
    """Megatron with a given number of layers on the first or last stage (0: not given); the rest splits evenly.

    Raises:
        LayoutRefusedError: more layers at the ends than there are, or the rest does not split evenly.
    """
    ends = (first > 0) + (last > 0)
    middle, rest = stages - ends, layers - first - last
    if middle < 0 or rest < 0 or (middle == 0 and rest) or (middle and rest % middle):
        raise LayoutRefusedError(
            "layers",
            f"{layers} layers with {first} on the first and {last} on the last of {stages} stages "
            "leave layers that do not split evenly",
        )
    inner = (rest // middle,) * middle if middle else ()
    return (*((first,) if first else ()), *inner, *((last,) if last else ()))


def split_before_last(layers: int, stages: int) -> Counts:
    """vLLM: one more layer for the stages just before the last one, which also holds norm and head."""
    base, rest = divmod(layers, stages)
    return tuple([base + (stages - 1 - rest <= stage < stages - 1) for stage in range(stages)])


def split_last(layers: int, stages: int) -> Counts:
    """SGLang: one more layer for the last stages."""
    base, rest = divmod(layers, stages)
    return tuple([base + (stage >= stages - rest) for stage in range(stages)])


def split_first(layers: int, stages: int) -> Counts:
    """TensorRT-LLM: one more layer for the first stages."""
    base, rest = divmod(layers, stages)
    return tuple([base + (stage < rest) for stage in range(stages)])


def split_given(layers: int, stages: int, given: Counts) -> Counts:
    """Take a partition written by hand (``VLLM_PP_LAYER_PARTITION``, ``SGLANG_PP_LAYER_PARTITION``).

    Raises:
        LayoutRefusedError: it has another number of stages or of layers.
    """
    if len(given) != stages:
        raise LayoutRefusedError("layer_partition", f"len(partitions)={len(given)} does not match pp_size={stages}.")
    if sum(given) != layers:
        raise LayoutRefusedError(
            "layer_partition", f"sum(partitions)={sum(given)} does not match num_hidden_layers={layers}."
        )
    return given


def partition_of(text: str) -> Counts:
    """Read a partition written as "15,15,16,15".

    Raises:
        LayoutRefusedError: it is not a list of whole numbers.
    """
    counts = [whole_number(part.strip()) for part in text.split(",")]
    if None in counts:
        raise LayoutRefusedError(
            "layer_partition", f"Invalid partition string: {shown(text)} is not whole numbers with commas"
        )
    return tuple([count for count in counts if count is not None])


def ranges(counts: Counts) -> tuple[tuple[int, int], ...]:
    """Turn counts into half-open ranges of layer numbers."""
    ends = tuple(accumulate(counts))
    return tuple(zip((0, *ends), ends, strict=False))
