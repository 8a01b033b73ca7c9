r"""Plan: an arithmetic program as numbers, O, G and S.

A plan works on M = inputs + constants + depth slots. Step n may use the slots that are there,

    O_n in R^M, zero from slot inputs + constants + n on,        G_n in [0, 1]

and appends its result. At G_n = 1 it is the sum \sum_i O_ni v_i, at G_n = 0 the product
\prod_i v_i^{O_ni}, between them the DMU's mix. The result of the plan is the last slot, or the
slots weighted by S. Any leading axes of O, G and S are many plans.

Curry, The Domain Mixed Unit: A New Neural Arithmetic Layer, 2025, section "Extensibility". Its
printed example, (a + b) / (c * d), has G = 1 in the last step, which is the difference of the two;
their quotient has G = 0.
"""

from collections.abc import Sequence
from dataclasses import InitVar, dataclass, field, replace

import torch
from jaxtyping import Float
from torch import Tensor

from ._read import Slot, natural, read_steps
from ._write import ATOM, Written, simplified, written_number, written_product, written_sum

Step = tuple[bool, tuple[tuple[int, int], ...]]
"""Whether a hard step is linear, and the slots it uses with their whole entries."""


@dataclass(frozen=True, eq=False)
class Plan:
    """An arithmetic program, or a batch of them.

    Args:
        O: Which slots each step uses, and how.
        G: The gate of each step: 1 is linear, 0 is logarithmic.
        S: Weights of the slots in the result; None is the last slot.
        names: What the inputs are called; x0, x1, ... if not given.
        constants: Numbers in the slots after the inputs.
        hard: O is whole, G is 0 or 1 and S is one-hot; `execute` is then exact.
        checked: Look at the numbers too and not at the shapes alone. A head, whose plans are right
            by construction, does without; so does compiled code.

    >>> plan = Plan.from_expression("(a + b) / (c * d)")
    >>> plan.O.tolist()[-1], plan.G.tolist()
    ([0.0, 0.0, 0.0, 0.0, 1.0, -1.0, 0.0], [1.0, 0.0, 0.0])
    >>> plan.expression()
    '(a + b) / (c * d)'
    """

    O: Float[Tensor, "*plans depth slots"]
    G: Float[Tensor, "*plans depth"]
    S: Float[Tensor, "*plans slots"] | None = None
    names: tuple[str, ...] = ()
    constants: tuple[float, ...] = ()
    hard: bool = False
    checked: InitVar[bool] = True
    program: tuple[Step, ...] | None = field(init=False, default=None)
    """The steps of a single hard plan."""
    result: int = field(init=False, default=-1)
    """The slot that a single hard plan returns."""
    powers: int | None = field(init=False, default=None)
    """The largest |entry| of a hard plan's O, where it was looked at."""

    def __post_init__(self, checked: bool) -> None:
        self._check_shapes()
        if not self.names:
            object.__setattr__(self, "names", tuple(f"x{i}" for i in range(self.inputs)))
        if checked and not torch.compiler.is_compiling():
            self._check_entries()
            if self.hard:
                self._note_program()

    @property
    def depth(self) -> int:
        """How many steps there are."""
        return self.O.shape[-2]

    @property
    def slots(self) -> int:
        """Inputs, constants and steps together."""
        return self.O.shape[-1]

    @property
    def inputs(self) -> int:
        """How many numbers go in."""
        return self.slots - self.depth - len(self.constants)

    @property
    def shape(self) -> torch.Size:
        """The shape of the batch of plans; () is a single one."""
        return self.O.shape[:-2]

    def __getitem__(self, index: int | slice | tuple[int | slice | None, ...] | None) -> "Plan":
        """The plans at `index` of a batch."""
        selection = None if self.S is None else self.S[index]
        return replace(self, O=self.O[index], G=self.G[index], S=selection)

    def harden(self) -> "Plan":
        """The hard plan nearest to this one."""
        selection = None
        if self.S is not None:
            chosen = self.S.detach().argmax(-1)
            selection = torch.nn.functional.one_hot(chosen, self.slots).to(self.S)
        whole = self.O.detach().round()
        gates = (self.G.detach() >= 0.5).to(self.G)
        # Only a single plan has a program to note; a batch is right by construction.
        checked = not self.shape
        return replace(self, O=whole, G=gates, S=selection, hard=True, checked=checked)

    @classmethod
    def from_expression(
        cls,
        text: str,
        names: Sequence[str] | None = None,
        *,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> "Plan":
        """The hard plan of a formula with + - * /, whole powers, numbers and parentheses.

        Args:
            text: The formula, in Python's notation.
            names: The inputs in their order; those of the formula in alphabetical order if None.
            device: Where O and G live.
            dtype: Their dtype; torch's default if None.
        """
        steps = read_steps(text)
        used = {slot for _, entries in steps for slot in entries}
        own = sorted({str(name) for kind, name in used if kind == "input"}, key=natural)
        names = own if names is None else list(names)
        if missing := [name for name in own if name not in names]:
            raise ValueError(
                f"the formula uses {', '.join(missing)}, which is not among its inputs "
                f"{', '.join(names) or '(none)'}"
            )
        constants = sorted({float(value) for kind, value in used if kind == "constant"})
        order: list[Slot] = [("input", name) for name in names]
        order += [("constant", value) for value in constants]
        order += [("step", n) for n in range(len(steps))]
        place = {slot: i for i, slot in enumerate(order)}
        rows = torch.zeros(len(steps), len(order), device=device, dtype=dtype)
        for n, (_, entries) in enumerate(steps):
            for slot, entry in entries.items():
                rows[n, place[slot]] = entry
        gates = torch.tensor([linear for linear, _ in steps]).to(rows)
        return cls(rows, gates, names=tuple(names), constants=tuple(constants), hard=True)

    def expression(self, simplify: bool = False) -> str:
        """Read the plan as a formula; a step whose gate is undecided reads as a mix of two.

        Args:
            simplify: Let sympy look for a shorter form. The names must be Python's.
        """
        if self.shape:
            raise ValueError(
                f"a formula is read from one plan; this is a batch of {tuple(self.shape)}, "
                f"of which plan[0] is the first"
            )
        terms: list[Written] = [(name, ATOM) for name in self.names]
        terms += [written_number(value) for value in self.constants]
        digits = 12 if self.hard else 3
        entries = self.O.detach().double().round(decimals=digits).tolist()
        for row, gate in zip(entries, self.G.detach().double().tolist(), strict=True):
            row = row[: len(terms)]
            linear, product = written_sum(row, terms), written_product(row, terms)
            if 0.01 <= gate <= 0.99:
                mix = f"mix({gate:.3g}: {linear[0]}, {1 - gate:.3g}: {product[0]})"
                terms.append((mix, ATOM))
            else:
                terms.append(linear if gate > 0.5 else product)
        if self.S is None:
            text = terms[-1][0]
        else:
            text = written_sum(self.S.detach().double().round(decimals=3).tolist(), terms)[0]
        return simplified(text) if simplify else text

    def _check_shapes(self) -> None:
        if self.O.dim() < 2 or self.depth < 1:
            raise ValueError(
                f"O has the axes ..., depth, slots, with one step at least; "
                f"got one of shape {tuple(self.O.shape)}"
            )
        if self.inputs < 0:
            raise ValueError(
                f"O of shape {tuple(self.O.shape)} leaves no room for inputs: there are "
                f"{self.slots} slots, {len(self.constants)} constants and {self.depth} steps"
            )
        for name, tensor, shape in (
            ("G", self.G, self.O.shape[:-1]),
            ("S", self.S, (*self.shape, self.slots)),
        ):
            if tensor is not None and tensor.shape != shape:
                raise ValueError(
                    f"{name} must have the shape {tuple(shape)} beside an O of shape "
                    f"{tuple(self.O.shape)}; got one of shape {tuple(tensor.shape)}"
                )
        if self.names and len(self.names) != self.inputs:
            raise ValueError(
                f"the plan has {self.inputs} inputs; got {len(self.names)} names: "
                f"{', '.join(self.names)}"
            )

    def _check_entries(self) -> None:
        for name, tensor in (("O", self.O), ("G", self.G), ("S", self.S)):
            if tensor is not None and not tensor.isfinite().all():
                raise ValueError(f"{name} has an entry that is not a finite number")
        if not ((self.G >= 0) & (self.G <= 1)).all():
            raise ValueError("a gate G lies between 0, the log domain, and 1, the linear one")
        beyond = (self.O * ~allowed(self.depth, self.slots, self.O.device)).nonzero()
        if len(beyond):
            *_, step, slot = beyond[0].tolist()
            raise ValueError(
                f"step {step} uses slot {slot}, which is not there yet: it may use the first "
                f"{self.slots - self.depth + step}"
            )
        if not self.hard:
            return
        if not (self.O % 1 == 0).all() or not (self.G % 1 == 0).all():
            raise ValueError(
                "a hard plan has whole numbers in O and gates of 0 or 1; plan.harden() rounds one"
            )
        if self.S is not None and not (
            ((self.S == 0) | (self.S == 1)).all() and (self.S.sum(-1) == 1).all()
        ):
            raise ValueError("the S of a hard plan selects one slot: a single 1, zeros elsewhere")

    def _note_program(self) -> None:
        object.__setattr__(self, "powers", max(1, int(self.O.detach().abs().max())))
        if self.shape:
            return
        rows = self.O.detach().to(torch.int64).tolist()
        steps = [
            (gate == 1, tuple((i, entry) for i, entry in enumerate(row) if entry))
            for row, gate in zip(rows, self.G.tolist(), strict=True)
        ]
        object.__setattr__(self, "program", tuple(steps))
        chosen = self.slots - 1 if self.S is None else int(self.S.argmax())
        object.__setattr__(self, "result", chosen)


def allowed(depth: int, slots: int, device: torch.device | None = None) -> Tensor:
    """Which slots are there for each step."""
    return torch.ones(depth, slots, dtype=torch.bool, device=device).tril(slots - depth - 1)
