"""Values are exact, and what has no value says so."""

from decimal import Decimal, localcontext

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arithmix.lm.kinds import Alphabet, begun, numbers, opens, spelled
from arithmix.lm.programs import compute, one_step

DECIMALS = st.decimals(-(10**9), 10**9, places=3)


@given(DECIMALS, DECIMALS)
def test_sums_and_products_are_those_of_decimal(x, y):
    with localcontext(prec=60):
        assert Decimal(compute("+", f"{x:f}", f"{y:f}")) == x + y
        assert Decimal(compute("-", f"{x:f}", f"{y:f}")) == x - y
        assert Decimal(compute("*", f"{x:f}", f"{y:f}")) == x * y


@pytest.mark.parametrize(
    ("op", "x", "y", "value"),
    [
        ("/", "1", "0", None),
        ("/", "1", "3", None),
        ("/", "-1", "8", "-0.125"),
        ("*", "1,000", "-2.5", "-2,500"),
        ("*", "9" * 1500, "9" * 1500, None),
        ("-", "0.1", "0.1", "0"),
    ],
)
def test_values(op, x, y, value):
    assert compute(op, x, y) == value


def test_programs_come_in_their_order():
    assert one_step(("6", "3")) == [
        *("12", "9", "9", "6"),
        *("0", "3", "-3", "0"),
        *("36", "18", "18", "9"),
        *("1", "2", "0.5", "1"),
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("In 1987, x = -5 or (-5)", ["1987", "-5", "-5"]),
        ("1,234.5 and 1,23 and 12.", ["1,234.5", "1", "23", "12"]),
        ("10 - 5, 10 -5, 3-4=-1", ["10", "5", "10", "5", "3", "4", "-1"]),
        ("covid-19 v1.2.3", ["19", "1.2", "3"]),
        ("none", []),
    ],
)
def test_numbers_in_tokens(tokenizer, text, found):
    alphabet = Alphabet(tokenizer)
    assert [n.text for n in numbers(alphabet.spell(tokenizer(text).input_ids), 99)] == found


def test_a_number_is_spelled_in_the_tokenizers_tokens(tokenizer):
    alphabet = Alphabet(tokenizer)
    for text in ("-12.5", "1,200", "0"):
        for way, space in (("spaced", " "), ("tight", "")):
            ids = [alphabet.ids[kind] for kind in spelled(text, way)]
            assert ids == tokenizer(space + text).input_ids


@given(st.text("w 1m-.,xn5", max_size=20))
def test_what_a_beginning_says_stays_true(kinds):
    starts = begun(kinds)
    for place in range(len(kinds)):
        assert begun(kinds[: place + 1]) == starts[: place + 1]
        assert opens(kinds[: place + 1], starts, place) == opens(kinds, starts, place)


def test_a_tokenizer_with_tokens_of_several_digits_is_refused():
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocab = {text: i for i, text in enumerate([*letters, "Ġ-", "01"])}
    whole = Tokenizer(models.BPE(vocab=vocab, merges=[("Ġ", "-"), ("0", "1")]))
    whole.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    whole.decoder = decoders.ByteLevel()
    with pytest.raises(ValueError, match=r"each digit.* got"):
        Alphabet(PreTrainedTokenizerFast(tokenizer_object=whole))
