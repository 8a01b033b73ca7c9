"""A reader learns from plain texts which numbers are computed, from which, and how."""

import random

import pytest
import torch

from arithmix.lm.mixture import FLOOR, Scores, number_loss, score, stack
from arithmix.lm.model import attach
from arithmix.lm.reader import Config, Reader
from arithmix.lm.samples import collect
from arithmix.lm.train import evaluate, fit
from arithmix.lm.vocabulary import Vocabulary

from .digits import make_base

LAYERS = (1, 2)


def make_reader(seed=0):
    config = Config(
        width=32, layers=LAYERS, size=48, depth=1, heads=2, rank=24, memory=6, constants=("2", "10")
    )
    return Reader(config, torch.Generator().manual_seed(seed))


def samples(texts, base, tokenizer):
    vocabulary = Vocabulary(tokenizer)
    return list(collect(texts, base, vocabulary, LAYERS, 6, ("2", "10")))


def differences(count, seed=0):
    rng = random.Random(seed)
    pairs = [(rng.randint(2, 99), rng.randint(2, 99)) for _ in range(count)]
    return [f"a {x} b {y} is {x - y}." for x, y in pairs]


def twos(count, seed=0):
    rng = random.Random(seed)
    some = [[rng.randint(11, 999) for _ in range(3)] for _ in range(count)]
    return [f"a {x} b {y} c {z} is {(x + y) * z}." for x, y, z in some]


def learned(texts, base, tokenizer, epochs):
    reader = make_reader()
    part = len(texts) // 8
    held_out = samples(texts[:part], base, tokenizer)
    fit(reader, samples(texts[part:], base, tokenizer), held_out, epochs=epochs, rate=4e-3)
    return attach(base, tokenizer, reader)


def test_training_on_plain_texts_finds_the_program(any_tokenizer):
    model = learned(differences(200), make_base(any_tokenizer), any_tokenizer, epochs=20)
    asked = ((345, 12), (7, 1000), (88, 91))
    found = [model.trace(f"a {x} b {y} is {x - y}.") for x, y in asked]
    assert [trace[-1].program.text for trace in found] == [f"{x} - {y}" for x, y in asked]


def test_training_finds_programs_of_two_steps(base, tokenizer):
    model = learned(twos(300), base, tokenizer, epochs=25)
    asked = ((345, 12, 77), (800, 1001, 55))
    found = [model.trace(f"a {x} b {y} c {z} is {(x + y) * z}.") for x, y, z in asked]
    assert [trace[-1].program.text for trace in found] == [
        f"({x} + {y}) * {z}" for x, y, z in asked
    ]


def test_a_number_costs_what_the_mixture_says():
    gate = torch.tensor([[0.4, 0.1, 0.3, 0.15, 0.05]]).log()
    experts = torch.tensor([[0.75, 0.3, 0.5]]).log()
    experts = torch.cat([experts, torch.tensor([[-1e4]])], 1)
    style, lm = torch.tensor([0.6]).log(), torch.tensor([0.01]).log()
    can = torch.tensor([[True, True, True, False]])
    mixed, own = number_loss(Scores(gate, style, experts, can), lm)
    expected = 0.4 * 0.01 + 0.6 * (0.1 * 0.75 + 0.3 * 0.3 + 0.15 * 0.5)
    assert mixed.exp().reciprocal().item() == pytest.approx(expected, rel=1e-5)
    floor = torch.tensor(FLOOR).exp()
    product = (0.75 + floor) * (0.3 + floor) * (0.5 + floor) * 0.6
    assert own.item() == pytest.approx(-product.log().item(), rel=1e-5)


def test_where_no_program_is_right_gradients_are_finite_and_the_base_is_asked(base, tokenizer):
    made = samples(["a 3 b 9777777 c"], base, tokenizer)
    [target] = made[0].targets
    assert not any(map(len, vars(target.found).values()))
    reader = make_reader()
    data = stack(made, 6, 2)
    mixed, own = number_loss(score(reader, data), data.lm)
    (mixed + own).sum().backward()
    assert all(p.grad is None or p.grad.isfinite().all() for p in reader.parameters())
    assert own.item() == 0
    gate = score(reader, data).gate[0, 0].item()
    assert mixed.item() == pytest.approx(-target.lm - gate, rel=1e-4)


def test_gradients_are_finite_for_every_kind_of_program(base, tokenizer):
    texts = [*twos(3), *differences(3), "a 3 b 3.", "a 7 b 11 c 13 d 17 is 298."]
    made = samples(texts, base, tokenizer)
    kinds = {
        kind for s in made for t in s.targets for kind, rows in vars(t.found).items() if len(rows)
    }
    assert kinds == {"copies", "ones", "twos", "threes"}
    reader = make_reader()
    data = stack(made, 6, 2)
    mixed, own = number_loss(score(reader, data), data.lm)
    (mixed + own).mean().backward()
    assert all(p.grad is None or p.grad.isfinite().all() for p in reader.parameters())


def test_the_bases_word_on_a_number_is_that_of_its_logits(any_tokenizer):
    base = make_base(any_tokenizer)
    vocabulary = Vocabulary(any_tokenizer)
    text = "a 12 b 345 is -7 so"
    [*_, target] = samples([text], base, any_tokenizer)[0].targets
    ids = vocabulary.encode(text)
    logs = base(torch.tensor([ids])).logits[0].double().log_softmax(-1)
    start, end = target.tokens
    assert "".join(vocabulary.texts[i] for i in ids[start:end]) == " -7"
    total = sum(logs[i - 1, ids[i]] for i in range(start, end))
    spaced = [i for i, piece in enumerate(vocabulary.texts) if i in vocabulary.index]
    spaced = [i for i in spaced if vocabulary.texts[i][:1] == " "]
    digits = [i for i, piece in enumerate(vocabulary.texts) if piece[:1].isdigit()]
    expected = total - logs[start - 1, spaced].logsumexp(0)
    expected = expected + torch.log1p(-logs[end - 1, digits].exp().sum())
    assert target.lm == pytest.approx(expected.item(), rel=1e-4)


class Stop(Exception):
    pass


def test_a_training_taken_up_again_ends_as_if_undisturbed(base, tokenizer, tmp_path):
    made, held_out = samples(differences(60), base, tokenizer), samples(twos(9), base, tokenizer)
    keep = tmp_path / "state.safetensors"
    whole, stopped = make_reader(), make_reader()
    told = []
    fit(whole, made, held_out, epochs=5, patience=9, say=told.append)

    def interrupt(epoch):
        if epoch.number == 2:
            raise Stop

    with pytest.raises(Stop):
        fit(stopped, made, held_out, epochs=5, patience=9, keep=keep, say=interrupt)
    keep.with_name(f".{keep.name}.part").write_bytes(b"half")
    again, heard = make_reader(seed=1), []
    fit(again, made, held_out, epochs=5, patience=9, keep=keep, say=heard.append)
    assert heard == told[2:]
    for one, other in zip(whole.parameters(), again.parameters(), strict=True):
        assert torch.equal(one, other)


def test_the_reader_ends_as_it_was_after_its_best_epoch(base, tokenizer):
    made, held_out = samples(differences(60), base, tokenizer), samples(twos(9), base, tokenizer)
    reader, told = make_reader(), []
    fit(reader, made, held_out, epochs=8, rate=3e-2, patience=2, say=told.append)
    best = min(told, key=lambda epoch: epoch.held_out)
    assert evaluate(reader, held_out) == pytest.approx(best.held_out, rel=1e-5)
    assert len(told) in (8, best.number + 3)


def test_odd_texts_are_read_or_passed_over(base, tokenizer):
    odd = ["", "no number", "5", "a 5 b ５５ c ٣", "a 1 b 2e5000 c", "a 5 b 5²", "48 239 is 5"]
    data = stack([made for made in samples(odd, base, tokenizer) if made.targets], 6, 2)
    mixed, _ = number_loss(score(make_reader(), data), data.lm)
    assert mixed.isfinite().all()
    assert samples(["", ""], base, tokenizer) == []
