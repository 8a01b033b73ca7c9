"""Texts from a user's files: plain ones, and word problems in the layouts of known collections.

>>> Text("2 boxes of 3 pens are", " 6 pens.", "6").whole
'2 boxes of 3 pens are 6 pens.'
"""

import csv
import io
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Entry = dict[str, Any]
WORKED = re.compile(r"<<[^<>]*>>")
FINAL = re.compile(r"\n?^\s*####[ \t]*(.*?)\s*\Z", re.MULTILINE)
HOLE = re.compile(r"number(\d+)")


@dataclass(frozen=True)
class Text:
    """A text, in two parts where it is a problem and its solution.

    Args:
        prompt: What is given, with the line break or space that ends it.
        solution: What is to be written after it; "" if that is not known.
        answer: The final number, if it is known.
        chat: Whether the parts are what a user says and the reply.
    """

    prompt: str
    solution: str = ""
    answer: str | None = None
    chat: bool = False

    @property
    def whole(self) -> str:
        """Both parts, which is what is trained on."""
        return (self.prompt + self.solution).rstrip()

    def rendered(self, tokenizer: Any = None) -> str:
        """What is trained on: talk as the tokenizer's chat template writes it, if it has one."""
        if not self.chat or getattr(tokenizer, "chat_template", None) is None:
            return self.whole
        says = [
            {"role": "user", "content": self.prompt.strip()},
            {"role": "assistant", "content": self.solution},
        ]
        return tokenizer.apply_chat_template(says, tokenize=False)


def read(path: str | Path) -> list[Text]:
    """The texts of a file.

    `.jsonl` and `.json` hold entries with `question` and `answer` (GSM8K), with `Body`, `Question`
    and `Answer` (SVAMP), with `prompt` and `answer`, with `user` and `assistant`, or with `text`.
    `.csv` has the columns `Question`, `Numbers` and `Answer`, where number0, number1, ... stand for
    the numbers. Any other file is plain text, with blank lines between the texts.

    Raises:
        ValueError: The file can't be read, is empty or has another layout, in one sentence.
    """
    path = Path(path)
    try:
        content = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise ValueError(f"{path} can't be read: {reason}") from error
    kinds = {".jsonl": _lines, ".json": _whole, ".csv": _table}
    if path.suffix.lower() in kinds:
        entries = kinds[path.suffix.lower()](content, path)
        texts = [_text(entry, where) for where, entry in entries]
    else:
        texts = [Text(text.strip()) for text in re.split(r"\n\s*\n", content) if text.strip()]
    if not texts:
        raise ValueError(f"{path} holds no text")
    return texts


def _lines(content: str, path: Path) -> Iterator[tuple[str, Any]]:
    # Not splitlines, which also splits at marks that JSON allows inside a text.
    for number, line in enumerate(content.split("\n"), 1):
        if line.strip():
            try:
                yield f"line {number} of {path}", json.loads(line)
            except json.JSONDecodeError as error:
                said = f"line {number} of {path} is not JSON: {error.msg}"
                raise ValueError(said) from error


def _whole(content: str, path: Path) -> Iterator[tuple[str, Any]]:
    if not content.strip():
        return
    try:
        found = json.loads(content)
    except json.JSONDecodeError as error:
        said = f"line {error.lineno} of {path} is not JSON: {error.msg}"
        raise ValueError(said) from error
    entries = found if isinstance(found, list) else [found]
    for number, entry in enumerate(entries, 1):
        yield f"entry {number} of {path}", entry


def _table(content: str, path: Path) -> Iterator[tuple[str, Any]]:
    reader = csv.DictReader(io.StringIO(content))
    for entry in reader:
        yield f"line {reader.line_num} of {path}", entry


def _text(entry: Any, where: str) -> Text:
    if not isinstance(entry, dict):
        raise ValueError(f"{where} is to hold named fields; got {type(entry).__name__}")
    for fields, make in LAYOUTS.items():
        if set(fields) <= entry.keys():
            _check(entry, fields, where)
            return make(entry, where)
    known = " or ".join(" + ".join(fields) for fields in LAYOUTS)
    got = ", ".join(map(str, entry)) or "none"
    raise ValueError(f"{where} needs the fields {known}; got {got}")


def _check(entry: Entry, fields: Sequence[str], where: str) -> None:
    for field in fields:
        if not isinstance(entry[field], str | int | float) or entry[field] == "":
            raise ValueError(f"{where} needs words or a number as {field}; got {entry[field]!r}")


def _worked(entry: Entry, where: str) -> Text:
    solution = WORKED.sub("", str(entry["answer"]))
    final = FINAL.search(solution)
    answer = final[1] if final else None
    return Text(f"{entry['question']}\n", FINAL.sub("", solution), answer)


def _filled(entry: Entry, where: str) -> Text:
    numbers = str(entry["Numbers"]).split()

    def fill(match: re.Match[str]) -> str:
        if int(match[1]) >= len(numbers):
            raise ValueError(f"{where} has {match[0]}, but only {len(numbers)} numbers")
        return _plain(numbers[int(match[1])])

    question = HOLE.sub(fill, str(entry["Question"]))
    return Text(f"{question}\n", answer=_plain(entry["Answer"]))


def _story(entry: Entry, where: str) -> Text:
    prompt = f"{str(entry['Body']).strip()} {str(entry['Question']).strip()}\n"
    return Text(prompt, answer=_plain(entry["Answer"]))


def _asked(entry: Entry, where: str) -> Text:
    prompt, answer = str(entry["prompt"]), _plain(entry["answer"])
    space = "" if prompt[-1:].isspace() else " "
    return Text(prompt, space + answer, answer)


def _talk(entry: Entry, where: str) -> Text:
    return Text(f"{entry['user']}\n", str(entry["assistant"]), chat=True)


def _alone(entry: Entry, where: str) -> Text:
    return Text(str(entry["text"]).strip())


def _plain(number: str | float) -> str:
    """A number without decimals that say nothing, as 51 for 51.0."""
    return re.sub(r"(?<=\d)\.0+$", "", str(number).strip())


LAYOUTS: dict[tuple[str, ...], Callable[[Entry, str], Text]] = {
    ("question", "answer"): _worked,
    ("Question", "Numbers", "Answer"): _filled,
    ("Body", "Question", "Answer"): _story,
    ("prompt", "answer"): _asked,
    ("user", "assistant"): _talk,
    ("text",): _alone,
}
"""What makes a text of an entry, by the fields that it needs."""
