"""Members that have stalled start again, as iNALU's do in the original benchmark."""

from collections.abc import Callable

import numpy as np
import torch

from ..units._recipe import Restart
from .step import Live

Redraw = Callable[[int], dict[str, torch.Tensor]]
"""Draws new parameters for a member."""


class Stalls:
    """The notes of every member since it last started."""

    def __init__(self, restart: Restart, members: int) -> None:
        self._restart = restart
        self._notes = [np.empty(0) for _ in range(members)]

    def first(self, errors: dict[int, float], start: int, steps: int) -> tuple[int, list[int]]:
        """How many of the next steps run until some members start again, and which these are.

        `errors` holds the validation error of each member, which stays as it is for these steps.
        """
        due = {member: self._due(member, error, start, steps) for member, error in errors.items()}
        count = min((at for at in due.values() if at is not None), default=steps)
        for member, error in errors.items():
            again = due[member] == count
            noted = np.empty(0) if again else np.full(count, error)
            self._notes[member] = noted if again else np.append(self._notes[member], noted)
        return count, [member for member, at in due.items() if at == count]

    def _due(self, member: int, error: float, start: int, steps: int) -> int | None:
        """After how many steps the member starts again, if it does."""
        rule = self._restart
        notes = np.append(self._notes[member], np.full(steps, error))
        if not notes.max() > rule.above:
            return None
        step = np.arange(start, start + steps)
        known = notes.size - steps + 1 + np.arange(steps)
        asked = np.flatnonzero((step % rule.every == 0) & (step > 0) & (known > rule.after))
        total = np.concatenate([[0.0], np.cumsum(notes)])
        squares = np.concatenate([[0.0], np.cumsum(notes**2)])
        n = known[asked]
        half = n // 2
        first = total[half] / half
        second = (total[n] - total[half]) / (n - half)
        spread = (squares[n] - squares[half]) / (n - half) - second**2
        stalled = (first <= second + np.sqrt(np.maximum(spread, 0))) & (second > rule.above)
        return int(asked[stalled][0]) + 1 if stalled.any() else None


@torch.no_grad()
def start_again(live: Live, place: int, drawn: dict[str, torch.Tensor]) -> None:
    """Put a new draw in a member's place; Adam's moments stay, as in the original."""
    for key, value in drawn.items():
        held = live.parameters if key in live.parameters else live.constants
        held[key][place] = value.to(held[key])
