"""Exact arithmetic inside a language model: its text's numbers, read and written.

What is named here needs no torch; `load`, `model` and `train` do, and the extra `lm`.
"""

from .exact import compute as compute
from .numbers import Number as Number
from .numbers import Style as Style
from .numbers import find as find
from .tokens import continuation as continuation
from .tokens import locate as locate
from .writing import write as write
