"""Arithmetic inside a language model. Needs the extra `lm`."""
