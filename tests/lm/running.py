"""Texts that models are run on, and how."""

import torch

PROMPT = "ab 12.5 and -7, then 1,200 is"
BATCH = [PROMPT, "3 x 44 =", "12 + 30 = 4", "no number here"]
LONG = PROMPT + " 84,000. 5 x 3 = 15.50 m -8400\n12"


def encode(model, text):
    return model.tokenizer(text, return_tensors="pt").input_ids


def near(one, other):
    torch.testing.assert_close(one, other, atol=1e-4, rtol=1e-4)
