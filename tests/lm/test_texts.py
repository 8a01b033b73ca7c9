"""Texts of every layout, and one sentence for what is none."""

import json

import pytest

from arithmix.lm.texts import Text, read


def file(tmp_path, name, content):
    path = tmp_path / name
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def test_blank_lines_part_plain_texts(tmp_path):
    path = file(tmp_path, "a.txt", "One 1.\nStill one.\n\n \n\nTwo 2.\n")
    assert [text.whole for text in read(path)] == ["One 1.\nStill one.", "Two 2."]


def test_a_worked_solution_loses_its_annotations_and_gives_its_answer(tmp_path):
    entry = {
        "question": "A shelf has 4 rows of 12 jars. How many jars?",
        "answer": "It has 4*12=<<4*12=48>>48 jars.\n#### 1,048",
    }
    path = file(tmp_path, "a.jsonl", json.dumps(entry) + "\n\n" + json.dumps(entry) + "\n")
    [text, _] = read(path)
    assert text == Text(entry["question"] + "\n", "It has 4*12=48 jars.", "1,048")
    assert text.whole == "A shelf has 4 rows of 12 jars. How many jars?\nIt has 4*12=48 jars."


def test_stories_and_questions_with_holes(tmp_path):
    story = {"Body": "Lea had 9 nuts and ate 4.", "Question": "How many are left?", "Answer": 5.0}
    [text] = read(file(tmp_path, "a.json", [story]))
    assert (text.whole, text.answer) == ("Lea had 9 nuts and ate 4. How many are left?", "5")
    holes = "Question,Numbers,Equation,Answer\nfrom number1 to number0 ?,3.0 2.5,- a b,0.5\n"
    [text] = read(file(tmp_path, "a.csv", holes))
    assert (text.whole, text.answer) == ("from 2.5 to 3 ?", "0.5")


def test_prompts_and_texts(tmp_path):
    [text] = read(file(tmp_path, "a.json", {"prompt": "7 + 8 =", "answer": 15}))
    assert text == Text("7 + 8 =", " 15", "15")
    [text] = read(file(tmp_path, "b.json", [{"text": " Two and 2. "}]))
    assert (text.whole, text.answer) == ("Two and 2.", None)


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("a.txt", " \n\n", "a.txt holds no text"),
        ("a.json", "", "a.json holds no text"),
        ("a.json", "[]", "a.json holds no text"),
        ("a.jsonl", '{"text": "1"}\n{"text": ', "line 2 of .*a.jsonl is not JSON"),
        ("a.json", '[\n{"text"}]', "line 2 of .*a.json is not JSON"),
        ("a.jsonl", "5", "line 1 of .*a.jsonl is to hold named fields; got int"),
        ("a.json", [{"words": "x"}], "entry 1 of .*question . answer or .*; got words"),
        ("a.json", [{"text": None}], "entry 1 of .* needs words or a number as text; got None"),
        ("a.csv", "Question,Numbers,Answer\nnumber1,5,5", "line 2 of .* has number1, but only 1"),
        ("a.csv", "x,y\n1,2", "line 2 of .*got x, y"),
    ],
)
def test_what_is_no_layout_is_one_sentence(tmp_path, name, content, sentence):
    with pytest.raises(ValueError, match=sentence):
        read(file(tmp_path, name, content))


def test_a_file_that_is_not_there_or_not_text(tmp_path):
    with pytest.raises(ValueError, match="can't be read: No such file"):
        read(tmp_path / "none.txt")
    (tmp_path / "a.txt").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ValueError, match="can't be read: it is not text"):
        read(tmp_path / "a.txt")
