"""Ten inputs of which two matter."""

from ..study import Study
from ._idle import idle_study
from ._idle import tables as tables


def study() -> Study:
    """The units that their papers ran there."""
    pairs = {"nau": "add sub", "inalu": "add", "real_npu": "div", "real_npu_mod": "div"}
    return idle_study(10, pairs | {"nru": "div", "nmru": "div"})
