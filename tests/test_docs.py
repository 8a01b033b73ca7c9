"""The site: it builds without a warning, draws every unit's equations and fetches nothing."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from arithmix import Unit
from arithmix.units import units

from .units.contract import PROPERTIES

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
# Where a browser loads something; a link that is followed by hand is another matter.
LOADED = re.compile(
    r'<(?:script|img|iframe|source)[^>]*\ssrc="?http|<link[^>]*\shref="?http|@import'
)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return folder


def test_every_unit_has_a_page_with_its_equations(site):
    overview = (site / "units" / "index.html").read_text()
    for name in units():
        page = (site / "units" / f"{name}.html").read_text()
        assert page.count('<math xmlns="http://www.w3.org/1998/Math/MathML" display="block">') > 0
        assert f'href="{name}.html"' in overview
        article = page[page.index("<article") : page.index("</article>")]
        left = re.findall(r"\\[a-z]+|\$[^$]*\$", re.sub(r"<(code|pre).*?</\1>", "", article))
        assert not left, f"{name}: not drawn"


def test_nothing_is_fetched_when_a_page_is_read(site):
    pages = list(site.rglob("*.html"))
    assert len(pages) > len(units())
    for page in pages:
        assert not LOADED.search(page.read_text()), page.name
    for sheet in site.rglob("*.css"):
        assert not re.search(r"@import|url\([\"']?http", sheet.read_text()), sheet.name


def test_the_example_of_a_unit_keeps_the_contract():
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / "adding.md").read_text(), re.DOTALL)
    (code,) = (block for block in blocks if "(Unit)" in block)
    names = {"__name__": "arithmix.units.plain_sum", "__package__": "arithmix.units"}
    exec(compile(code, "plain_sum.py", "exec"), names)
    example = names["PlainSum"]
    assert isinstance(example, type) and issubclass(example, Unit)
    for check in PROPERTIES:
        check(example)


@pytest.mark.parametrize(
    ("written", "drawn"),
    [
        (r"r_lin = \sum_i O_i x_i", r"r_{\text{lin}} = \sum_{i} O_{i}\,x_{i}"),
        (r"w^re_ij \ln r_i", r"w^{\text{re}}_{ij}\,\ln\,r_{i}"),
        (r"w_ji in [0, 1]", r"w_{ji} \in [0, 1]"),
        (r"v = x in training", r"v = x \text{ in training }"),
        (r"\hat w_ji, t0", r"\hat w_{ji}, t_{0}"),
    ],
)
def test_the_notation_of_docstrings_becomes_latex(monkeypatch, written, drawn):
    monkeypatch.syspath_prepend(DOCS / "hooks")
    from notation import latex

    assert latex(written) == drawn


@pytest.mark.parametrize(
    ("written", "drawn"),
    [
        (r"\lambda = 10, the weight", r"$\lambda = 10$, the weight"),
        ("with |O_i|, not `O_i`", "with $|O_{i}|$, not `O_i`"),
        (r"of \hat w and \hat m start", r"of $\hat w$ and $\hat m$ start"),
        ("a plain sentence, 1e-5 of it.", "a plain sentence, 1e-5 of it."),
    ],
)
def test_formulas_in_prose_are_found(monkeypatch, written, drawn):
    monkeypatch.syspath_prepend(DOCS / "hooks")
    from notation import prose

    assert prose(written) == drawn
