"""Programs in the next token's logits: probabilities that sum to one, and make the mixture."""

from fractions import Fraction

import pytest
import torch

from arithmix.lm.candidates import Expression, Program
from arithmix.lm.logits import begin, go_on, outlook, spelled
from arithmix.lm.reading import LONGEST

from .test_vocabulary import KINDS, VOCABULARIES

STYLES = [0.7, 0.1, 0.15, 0.05]
PROGRAMS = {42: 0.3, 420: 0.1, 12345: 0.2, -7: 0.1, Fraction(5, 2): 0.1}


def seen_there(programs=PROGRAMS, styles=STYLES):
    made = [Program(Expression(str(value), value, ()), p) for value, p in programs.items()]
    return outlook(made, styles)


class Writer:
    """A base with random logits at each place, and the mixture on top of it."""

    def __init__(self, kind, before="is", seed=0):
        self.vocabulary, self.before = VOCABULARIES[kind], before
        draw = torch.Generator().manual_seed(seed)
        self.base = torch.randn(30, len(self.vocabulary.texts), generator=draw)
        # Spaces and digits are not rare, so that what is tested is not lost in rounding.
        self.base[:, self.vocabulary.written] += 2
        self.seen = seen_there()

    def logits(self, written, way="spaced", ways=("spaced",)):
        """The mixed logits after some tokens of a number."""
        base = self.base[len(written)]
        if not written:
            return begin(self.seen, base, ways, self.before, self.vocabulary)
        logs = self.base.log_softmax(-1)[: len(written), self.vocabulary.written]
        return go_on(self.seen, written, way, self.before, logs, base, self.vocabulary)

    def whole(self, ids, mixed):
        """The probability of a number's tokens, and of no digit after them."""
        digits = [i for i, text in enumerate(self.vocabulary.texts) if text[:1].isdigit()]
        result = 1.0
        for i, token in enumerate((*ids, None)):
            logits = self.logits(ids[:i]) if mixed else self.base[i]
            some = logits.double().softmax(-1)
            result *= (1 - some[digits].sum() if token is None else some[token]).item()
        return result


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("text", ["42", "420", "4", "12,345", "-7", "2.50", "13", "42.00"])
def test_the_product_over_a_numbers_tokens_is_the_mixture(kind, text):
    writer = Writer(kind)
    vocabulary = writer.vocabulary
    ids = vocabulary.spell("is", " " + text)
    starts = [vocabulary.written[i] for i in vocabulary.starts["spaced"]]
    spaced = writer.base[0].double().softmax(-1)[starts].sum().item()
    weight, found = spelled(writer.seen, "spaced", "is", vocabulary)
    # After 42 the program of 42.00 says no digit either.
    ends = (ids, vocabulary.spell("is", f" {text}.00"))
    expected = weight * writer.whole(ids, mixed=False)
    expected += spaced * sum(found.get(end, 0.0) for end in ends)
    assert writer.whole(ids, mixed=True) == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_the_sum_of_all_tokens_stays_what_it_was(kind):
    writer = Writer(kind)
    vocabulary = writer.vocabulary
    for text in ("", "4", "42", "42.", "420", "12", "123456", "-", "2.5", "99"):
        for way, form in (("spaced", " " + text), ("tight", text)):
            ids = vocabulary.spell("=", form) if text else ()
            now = writer.logits(ids, way, ("spaced", "tight"))
            before = writer.base[len(ids)].logsumexp(-1)
            assert now.logsumexp(-1).item() == pytest.approx(before.item(), abs=1e-4)
            assert now.isfinite().all()


@pytest.mark.parametrize("kind", KINDS)
def test_where_a_number_begins_other_tokens_keep_their_logits(kind):
    writer = Writer(kind)
    now = writer.logits(())
    kept = torch.ones(now.shape, dtype=torch.bool)
    kept[writer.vocabulary.written] = False
    assert torch.equal(now[kept], writer.base[0][kept])
    assert not torch.equal(now, writer.base[0])


def test_a_number_that_no_program_foretold_is_the_bases():
    writer = Writer("single")
    ids = writer.vocabulary.spell("is", " 999")
    assert torch.equal(writer.logits(ids), writer.base[len(ids)])


def test_after_a_finished_number_a_point_may_come_and_then_no_digit():
    writer = Writer("single")
    writer.seen = seen_there({42: 0.999}, [1.0, 0.0, 0.0, 0.0])
    ids = writer.vocabulary.spell("is", " 42.")
    digits = [i for i, text in enumerate(writer.vocabulary.texts) if text[:1].isdigit()]
    base = writer.base[len(ids)].softmax(-1)[digits].sum()
    assert base > 0.05
    assert writer.logits(ids).softmax(-1)[digits].sum() < 0.02 * base


def test_what_can_not_be_written_is_left_to_the_base():
    assert seen_there({Fraction(1, 3): 0.9}) is None
    assert seen_there({10 ** (LONGEST + 1): 0.9}) is None
    seen = seen_there({Fraction(1, 3): 0.5, 8: 0.4})
    assert seen.base == pytest.approx(0.6)
    assert sum(seen.texts.values()) == pytest.approx(0.4)


def test_programs_of_one_value_are_taken_together():
    programs = [Program(Expression(name, 8, ()), 0.25) for name in ("3 + 5", "4 * 2")]
    assert outlook(programs, STYLES).values == {8: 0.5}
