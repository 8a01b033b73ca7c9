r"""The likelihood of the numbers in a text, and what training minimises.

    P(y) = g_lm p_lm(y) + w(y) (g_copy \sum_i pi_i [x_i = y] + \sum_T g_T \sum_s pi_s [s(x) = y])

The base's p_lm is that of the number's tokens after how it begins, and of no digit after them; w is
the probability of this way to write the value; so all compete on equal terms. With this alone the
gate closes at once where the base already knows its texts, and what is behind it never learns; so
each expert is also trained on its own: -ln(\sum pi [right] + e^-9), where it can be right.

Sums over programs of one step are exact. Of two and three steps the sum is over the programs that
`programs.search` found, of which at most `ROWS` count: those with the likeliest first steps.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from .reader import Reader
from .samples import Sample
from .slots import NEVER, Steps

FLOOR = -9.0
"""The logarithm of what an expert is given where it is wrong: it bounds its loss."""
ROWS = 12


@dataclass(frozen=True)
class Batch:
    """Texts as tensors. A target is a number: which text, which token, what is right."""

    states: Tensor
    digit: Tensor
    there: Tensor
    text: Tensor
    place: Tensor
    last: Tensor
    number: Tensor
    lm: Tensor
    styles: Tensor
    copies: Tensor
    ones: Tensor
    twos: Tensor
    threes: Tensor


def stack(
    samples: Sequence[Sample], memory: int, constants: int, device: torch.device | str = "cpu"
) -> Batch:
    """Samples as one batch; numbers that a target lacks are missing first."""
    longest = max(len(sample.ids) for sample in samples)
    states = torch.zeros(len(samples), longest, samples[0].states.shape[1], dtype=torch.float16)
    digit = torch.zeros(len(samples), longest, dtype=torch.bool)
    there = torch.zeros(len(samples), longest, dtype=torch.bool)
    pairs = [(i, target) for i, sample in enumerate(samples) for target in sample.targets]
    slots = memory + constants
    last = torch.zeros(len(pairs), memory, dtype=torch.long)
    number = torch.zeros(len(pairs), memory, dtype=torch.bool)
    copies = torch.zeros(len(pairs), memory, dtype=torch.bool)
    ones = torch.zeros(len(pairs), 4, slots, slots, dtype=torch.bool)
    twos, threes = [], []
    for i, sample in enumerate(samples):
        length = len(sample.ids)
        states[i, :length], digit[i, :length], there[i, :length] = sample.states, sample.digit, True
    for i, (_, target) in enumerate(pairs):
        count = len(target.last)
        shift = memory - count
        last[i, shift:] = torch.tensor(target.last)
        number[i, shift:] = True
        found = target.found
        copies[i, found.copies + shift] = True
        op, left, right = torch.from_numpy(found.ones).T
        ones[i, op, left + shift, right + shift] = True
        for row in found.twos.tolist():
            op, a, b, op2, side, c = row
            twos.append((i, op, a + shift, b + shift, op2, side, c + shift))
        threes += [(i, *row, count) for row in found.threes.tolist()]
    made = Batch(
        states=states,
        digit=digit,
        there=there,
        text=torch.tensor([i for i, _ in pairs]),
        place=torch.tensor([target.place for _, target in pairs]),
        last=last,
        number=number,
        lm=torch.tensor([target.lm for _, target in pairs]),
        styles=torch.tensor([target.styles for _, target in pairs]),
        copies=copies,
        ones=ones,
        twos=torch.tensor(twos, dtype=torch.long).view(-1, 7),
        threes=torch.tensor(threes, dtype=torch.long).view(-1, 12),
    )
    return Batch(**{name: tensor.to(device) for name, tensor in vars(made).items()})


@dataclass(frozen=True)
class Scores:
    """For each target: the gate, and each expert's log-probability of the number."""

    gate: Tensor
    style: Tensor
    experts: Tensor
    can: Tensor


def score(reader: Reader, batch: Batch) -> Scores:
    """What a reader says of the targets of a batch."""
    # Half precision is enough to learn in; what ships is judged and used in full.
    with torch.autocast(batch.states.device.type, torch.bfloat16, enabled=reader.training):
        read = reader.read(batch.states, batch.digit, batch.there)
    read = read.float()
    q = reader.ask(read[batch.text, batch.place])
    text = batch.text[:, None]
    after = (batch.last + 1).clamp(max=read.shape[1] - 1)
    slots = reader.slots(read[text, batch.last], read[text, after], batch.number)
    copied = total(reader.copies(q, slots), batch.copies)
    computed = [total(reader.first(q, slots, 1)[1].flatten(1), batch.ones.flatten(1))]
    computed.append(_twos(reader, q, slots, batch.twos))
    computed.append(_threes(reader, q, slots, batch.threes))
    experts = torch.stack([copied, *computed], 1)
    return Scores(
        reader.gate(q), total(reader.style(q), batch.styles), experts, experts > NEVER / 2
    )


def number_loss(scores: Scores, lm: Tensor) -> tuple[Tensor, Tensor]:
    """The negative log-likelihood of each number, and the experts' own losses, in nats."""
    programs = scores.gate[:, 1:] + scores.experts + scores.style[:, None]
    base = scores.gate[:, 0] + lm
    mixed = torch.cat([base[:, None], programs], 1).logsumexp(1)
    floor = torch.full_like(scores.experts, FLOOR)
    own = -torch.logaddexp(scores.experts, floor) * scores.can
    style = -scores.style * scores.can.any(1)
    return -mixed, own.sum(1) + style


def _twos(reader: Reader, q: Tensor, slots: Steps, twos: Tensor) -> Tensor:
    """The log-probability of the number by programs of two steps, for each target."""
    result = torch.full((len(q),), NEVER, device=q.device)
    if not len(twos):
        return result
    wanted = torch.unique(twos[:, 0])
    rows = torch.searchsorted(wanted, twos[:, 0].contiguous())
    here = Steps(slots.keys[wanted], slots.there[wanted], slots.constant)
    asked, first = reader.first(q[wanted], here, 2)
    chosen = first[rows, twos[:, 1], twos[:, 2], twos[:, 3]]
    kept = _likeliest(chosen.detach(), rows)
    rows, steps, chosen = rows[kept], twos[kept], chosen[kept]
    op, left, right = steps[:, 1:4].T
    state = reader.after_first(asked[rows], here.keys[rows], here.there[rows], op, left, right)
    logs = reader.last_of_two(state)
    every = torch.arange(len(rows), device=q.device)
    chosen = chosen + logs[every, steps[:, 4], steps[:, 5], steps[:, 6]]
    return result.index_put((wanted,), _by_target(chosen, rows, len(wanted)))


def _threes(reader: Reader, q: Tensor, slots: Steps, threes: Tensor) -> Tensor:
    """The log-probability of the number by programs of three steps, for each target."""
    result = torch.full((len(q),), NEVER, device=q.device)
    if not len(threes):
        return result
    wanted = torch.unique(threes[:, 0])
    rows = torch.searchsorted(wanted, threes[:, 0].contiguous())
    asked, here, first = reader.first_of_three(
        q[wanted], Steps(slots.keys[wanted], slots.there[wanted], slots.constant)
    )
    # Slots were counted among the target's last numbers; here the missing ones come first.
    size = here.keys.shape[1]
    shift = size - threes[:, 11].clamp(max=size)
    alone = threes[:, 4] == 1
    a, b = threes[:, 2] + shift, threes[:, 3] + shift
    c = threes[:, 6] + shift * alone  # a slot where the step stands alone, else a side
    d, e = threes[:, 7] + shift, threes[:, 10] + shift * ~alone
    chosen = first[rows, threes[:, 1], a, b]
    kept = _likeliest(chosen.detach(), rows)
    rows, chosen, alone = rows[kept], chosen[kept], alone[kept]
    a, b, c, d, e = a[kept], b[kept], c[kept], d[kept], e[kept]
    op1, op2, op3, side = threes[kept][:, [1, 5, 8, 9]].T
    every = torch.arange(len(rows), device=q.device)

    state = reader.after_first(asked[rows], here.keys[rows], here.there[rows], op1, a, b)
    goes, apart = reader.second_of_three(state)
    second = torch.where(
        alone, apart[every, op2, c, d], goes[every, op2, torch.where(alone, 0, c), d]
    )
    chain = reader.after_chain(state, op2, torch.where(alone, 0, c), d)
    pair = reader.after_pair(state, op2, torch.where(alone, c, 0), d)
    third = torch.where(alone, pair[every, op3, side, 0], chain[every, op3, side, e.clamp_min(0)])
    return result.index_put((wanted,), _by_target(chosen + second + third, rows, len(wanted)))


def _likeliest(chosen: Tensor, rows: Tensor) -> Tensor:
    """The first `ROWS` of each target by their probability."""
    order = chosen.argsort(descending=True)
    order = order[rows[order].argsort(stable=True)]
    sorted_rows = rows[order]
    start = torch.searchsorted(sorted_rows, sorted_rows)
    return order[torch.arange(len(order), device=order.device) - start < ROWS]


def _by_target(logs: Tensor, rows: Tensor, count: int) -> Tensor:
    """The logarithm of the sum of each target's programs."""
    most = torch.full((count,), NEVER, device=logs.device)
    most = most.scatter_reduce(0, rows, logs.detach(), "amax")
    sums = torch.zeros(count, device=logs.device).index_add(0, rows, (logs - most[rows]).exp())
    return most + sums.clamp_min(1e-30).log()


def total(logs: Tensor, which: Tensor) -> Tensor:
    """The logarithm of the mass on `which`; a very small number, and no gradient, for none."""
    return logs.masked_fill(~which, NEVER).logsumexp(-1).clamp_min(NEVER)
