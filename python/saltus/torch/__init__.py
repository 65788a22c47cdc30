"""Targets that are PyTorch modules or functions, and samplers that step on tensors."""

from ._samplers import DMALA, DULA, GWG, PAS, Gibbs
from ._stepper import Info
from ._target import target

__all__ = ["DMALA", "DULA", "GWG", "Gibbs", "Info", "PAS", "target"]
