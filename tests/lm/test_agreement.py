"""A number's likelihood in training is its probability in use, from the text to the logits."""

import math

import pytest
import torch

from arithmix.lm import candidates
from arithmix.lm.mixture import number_loss, score, stack
from arithmix.lm.model import attach
from arithmix.lm.reading import Reading
from arithmix.lm.samples import collect
from arithmix.lm.vocabulary import Vocabulary

from .digits import make_base
from .readers import random_reader

# Of two and three steps training has the programs that were found, so they are left out here.
GATE = (0.5, 0.3, 0.4, -40.0, -40.0)
TEXTS = [
    "ab 12 and 30 is 42 so",
    "ab 12.5 and -7, then 1,200 is -8400 so",
    "3 x 345 = 1,035 and 58",
    "a 7 b 7 c 7 is 7 d",
    "x 5 y 977777 z",
]


@pytest.fixture(autouse=True)
def thorough(monkeypatch):
    """No program is too unlikely."""
    monkeypatch.setattr(candidates, "NEGLIGIBLE", 0.0)


@pytest.mark.parametrize("text", TEXTS)
def test_the_likelihood_of_a_number_is_its_probability(any_tokenizer, text):
    reader = random_reader(GATE)
    # Where a program writes 42.00, no digit follows its 42 either.
    reader.style_head.bias.data[2:] = -40.0
    reader.style_head.weight.data[2:] = 0.0
    base, vocabulary = make_base(any_tokenizer), Vocabulary(any_tokenizer)
    settings = reader.config.layers, reader.config.memory, reader.config.constants
    [sample] = collect([text], base, vocabulary, *settings)
    data = stack([sample], reader.config.memory, len(reader.config.constants))
    with torch.no_grad():
        scores = score(reader, data)
        likelihoods = (-number_loss(scores, data.lm)[0]).exp().tolist()
    assert sample.targets

    ids = torch.tensor([sample.ids])
    plain = base(ids).logits[0].double().softmax(-1)
    model = attach(base, any_tokenizer, reader)
    mixed = model(ids).logits[0].double().softmax(-1)
    notes = model._notes(ids, None, model(ids, use_cache=False, output_hidden_states=True))
    reading = Reading(vocabulary.text(sample.ids))
    digits = [i for i, piece in enumerate(vocabulary.texts) if piece[:1].isdigit()]
    for target, likelihood, gate in zip(sample.targets, likelihoods, scores.gate, strict=True):
        start, end = target.tokens
        starts = [vocabulary.written[i] for i in vocabulary.starts[reading.way(start)]]
        found = math.prod(mixed[i - 1, sample.ids[i]].item() for i in range(start, end))
        found *= 1 - mixed[end - 1, digits].sum().item()
        found /= plain[start - 1, starts].sum().item()
        # Programs without a value that ends are the base's in use, and nobody's in training.
        seen = model.author.outlook(notes, 0, reading, target.place)
        spare = (seen.base - gate[0].exp().item()) * math.exp(target.lm)
        assert found == pytest.approx(likelihood + spare, rel=0.02)
