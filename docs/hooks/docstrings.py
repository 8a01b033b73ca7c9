"""Docstrings made ready for mkdocstrings: their formulas, and their examples as a section."""

import re

import griffe

from notation import prose


class Docstrings(griffe.Extension):
    """Rewrites every docstring of the package as it is read."""

    def on_object(self, *, obj: griffe.Object, **kwargs: object) -> None:
        """Take up one module, class, function or attribute."""
        if obj.docstring is not None:
            paragraphs = obj.docstring.value.split("\n\n")
            obj.docstring.value = "\n\n".join(map(_rewritten, paragraphs))


def _rewritten(paragraph: str) -> str:
    if paragraph.startswith(">>> "):
        return "Examples:\n" + re.sub(r"^", "    ", paragraph, flags=re.MULTILINE)
    return prose(paragraph)
