"""Exact arithmetic inside a language model: its text's numbers, read and written. No torch."""

from .exact import compute as compute
