"""Read a model's shape from the ``config.json`` of Hugging Face, as the contract's model section.

Rules kept: strict JSON; every value says which key of which file gave it; what the files do not state is asked for by
the contract's field name, never guessed; every problem is reported at once.

Not handled: downloading; files of weights, whose index would state their true size.
"""

from planner.hypotheses.config.keys import File, Missing, Source
from planner.hypotheses.config.model import ConfigModel, ConfigRefusedError, read_config

__all__ = ["ConfigModel", "ConfigRefusedError", "File", "Missing", "Source", "read_config"]
