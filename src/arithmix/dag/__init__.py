"""Differentiable arithmetic programs: written, run, predicted, learned and read."""

from .execute import execute as execute
from .plan import Plan as Plan
