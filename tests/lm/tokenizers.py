"""Small tokenizers, each with a habit of a large one's."""

import re


class Pieces:
    """Splits a text by an expression; every piece that it meets is a token."""

    def __init__(self, pattern):
        self.pattern = re.compile(pattern, re.DOTALL)
        self.pieces = []

    def split(self, text):
        return self.pattern.findall(text)

    def encode(self, text):
        return [self.number(piece) for piece in self.split(text)]

    def number(self, piece):
        if piece not in self.pieces:
            self.pieces.append(piece)
        return self.pieces.index(piece)

    def decode(self, ids):
        return "".join(self.pieces[token] for token in ids)

    def offsets(self, text):
        return [match.span() for match in self.pattern.finditer(text)]


class Marked(Pieces):
    """Puts a mark for the space before a text, as SentencePiece does, and takes it off again."""

    def split(self, text):
        return super().split(f" {text}" if text else "")

    def decode(self, ids):
        return super().decode(ids).removeprefix(" ")


class Spaced(Pieces):
    """Loses the spaces, as WordPiece does."""

    def split(self, text):
        return [piece.strip() for piece in super().split(text) if piece.strip()]

    def decode(self, ids):
        return " ".join(self.pieces[token] for token in ids)


REST = r" ?[^\s\d]+|\s"
DIGITS = Pieces(rf"\d|{REST}")
LEFT = Pieces(rf"\d{{1,3}}|{REST}")
RIGHT = Pieces(rf"\d{{1,3}}(?=(?:\d{{3}})*(?!\d))|{REST}")
# Arbitrary groups, some with the space before them.
MERGED = Pieces(rf" ?(?:20|12|1)\d(?=\D|$)| 1| ?\d00| ?345|\d\d(?!\d)|\d|{REST}")
MARKED = Marked(rf"\d|{REST}")
FAITHFUL = {"digits": DIGITS, "left": LEFT, "right": RIGHT, "merged": MERGED, "marked": MARKED}
