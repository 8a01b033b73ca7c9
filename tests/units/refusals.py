"""What every unit must refuse, each with one ValueError that says what it got."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from jaxtyping import TypeCheckError

from arithmix import Unit

from .making import Make, generator

CHECKED = hasattr(Unit.forward, "__wrapped__")
"""Whether shapes are checked as the units run; that check then comes before the units' own."""


def refuses(act: Callable[..., object], *arguments: Any, words: Sequence[str]) -> None:
    """Assert that `act` of the arguments is a ValueError that has all these words."""
    try:
        act(*arguments)
    except ValueError as error:
        assert all(word in str(error) for word in words), f"{error} has not all of {words}"
    except Exception as error:
        if not (CHECKED and isinstance(error, TypeCheckError)):
            raise AssertionError(f"{type(error).__name__} and not ValueError: {error}") from error
    else:
        raise AssertionError(f"it was not refused, with the words {words}")


def a_wrong_width_is_an_error(unit: Make) -> None:
    for one in (
        unit(3, 1, generator=generator()),
        unit(3, 2, generator=generator()),
        unit(3, 1, generator=generator()).harden(),
        unit(3, 1, population=(5,), generator=generator()),
    ):
        for shape in ((4, 1), (4, 2), (4, 4), (5, 4, 1), (1,), (4, 0), ()):
            x, y = torch.ones(shape), torch.ones(*shape[:-1], one.out_features)
            words = ("takes 3 inputs", "(..., 3)", f"got {shape}")
            refuses(one, x, words=words)
            refuses(one.loss, x, y, words=words)


def a_target_of_another_shape_is_an_error(unit: Make) -> None:
    for outputs, wrong in ((1, [(8,), (1, 8), (8, 2), ()]), (2, [(8,), (2, 8), (8, 1), (1, 8, 2)])):
        one, x = unit(3, outputs, generator=generator()), torch.ones(8, 3)
        assert one.loss(x, torch.ones(8, outputs)).shape == ()
        for shape in wrong:
            words = (f"shape of the output, {(8, outputs)}", f"got {shape}")
            refuses(one.loss, x, torch.ones(shape), words=words)
    members, x = unit(2, 1, population=(4,), generator=generator()), torch.ones(4, 8, 2)
    assert members.loss(x, torch.ones(4, 8, 1)).shape == (4,)
    refuses(members.loss, x, torch.ones(8, 1), words=("(4, 8, 1)", "got (8, 1)"))


def sizes_that_no_unit_has_are_an_error(unit: Make) -> None:
    for sizes in ((0, 1), (2, 0), (-1, 1), (2.5, 1), ("2", 1), (2, 1.0), (None, 1), (2, "1")):
        got = f"got in_features={sizes[0]!r} and out_features={sizes[1]!r}"
        words = ("a unit needs at least one input and one output; ", got)
        refuses(unit, *sizes, words=words)
