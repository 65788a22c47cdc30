"""Targets that are PyTorch modules or functions, and samplers that step on tensors."""

from ._samplers import DMALA, DULA, GWG, Info
from ._target import target

__all__ = ["DMALA", "DULA", "GWG", "Info", "target"]
