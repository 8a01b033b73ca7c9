"""Arithmix: neural arithmetic units, the benchmark that judges them, and the engine that trains them."""

from .units import Recipe as Recipe
from .units import Unit as Unit
from .units import units as units
from .units.dmu import DMU as DMU

__version__ = "0.1.0"
