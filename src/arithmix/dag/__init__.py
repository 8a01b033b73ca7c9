"""Differentiable arithmetic programs: written, run, predicted, learned and read."""
