"""Differentiable arithmetic programs: written, run, predicted, learned and read."""

from .discover import Discover as Discover
from .execute import execute as execute
from .plan import Plan as Plan
from .predict import DAG as DAG
from .predict import Head as Head
