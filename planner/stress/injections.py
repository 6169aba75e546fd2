"""Every injection. A group of them is a module here; adding one to it is one function and nothing else."""

from planner.registry import collect
from planner.stress import age, balance, crossing, fabric, loss, memory, service, telemetry
from planner.stress.base import Injection

__all__ = ["INJECTIONS", "MODULES"]

MODULES = (crossing, telemetry, memory, service, fabric, balance, loss, age)
INJECTIONS = collect(MODULES, Injection)
