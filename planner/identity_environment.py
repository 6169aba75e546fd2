"""Which variables of an engine's environment a report holds: those that change how it runs, and no secret.

The collector keeps what this returns, and the server refuses a report that has more.
"""

from collections.abc import Mapping

from planner.importers.redaction import Redactor

__all__ = ["environment_of"]

PREFIXES = (
    *(
        "CUDA_",
        "NVIDIA_",
        "NCCL_",
        "RCCL_",
        "VLLM_",
        "SGLANG_",
        "SGL_",
        "TRTLLM_",
        "TLLM_",
        "UCX_",
        "NIXL_",
        "NVSHMEM_",
    ),
    *("HSA_", "HIP_", "ROCR_", "GLOO_", "OMPI_MCA_", "TORCH_", "PYTORCH_", "OMP_NUM_THREADS", "TOPOGATE_"),
)
"""Beginnings of the names that change how an engine runs."""
SECRETS = ("KEY", "TOKEN", "SECRET", "PASSW", "CREDENTIAL", "AUTH")


def environment_of(variables: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that change how an engine runs, without what names or holds a secret."""
    kept = {}
    for name, value in sorted(variables.items()):
        if name.startswith(PREFIXES) and not any(word in name for word in SECRETS):
            line = b"".join(Redactor().copy([f"{name}={value}".encode("utf-8", "replace")]))
            kept[name] = line.decode("utf-8", "replace").removeprefix(f"{name}=")
    return kept
