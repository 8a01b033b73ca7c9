"""Names that people type: the right one, or a sentence that offers the nearest."""

from collections.abc import Iterable
from difflib import get_close_matches


def choose(name: str, options: Iterable[str], kind: str) -> str:
    """Return `name` if it is one of `options`.

    >>> choose("add", ["add", "sub"], "operation")
    'add'
    >>> choose("ad", ["add", "sub"], "operation")
    Traceback (most recent call last):
    ValueError: no operation is called 'ad'; did you mean add? (the operations are add, sub)
    """
    options = list(options)
    if name in options:
        return name
    near = get_close_matches(name, options, n=3, cutoff=0.5)
    offer = f"did you mean {' or '.join(near)}? " if near else ""
    known = f"the {_plural(kind)} are {', '.join(options)}"
    raise ValueError(f"no {kind} is called {name!r}; {offer}{f'({known})' if near else known}")


def _plural(word: str) -> str:
    if word.endswith("y"):
        return f"{word[:-1]}ies"
    return f"{word}es" if word.endswith("s") else f"{word}s"
