"""A language model that computes: programs over the numbers of a text, inside a model's logits."""
