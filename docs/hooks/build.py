"""What MkDocs calls as it builds: the units get their pages, and formulas become MathML."""

import html
import re
from pathlib import Path

from latex2mathml.converter import convert
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

import unit_pages

FORMULA = re.compile(r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>', re.DOTALL)
# A bar is that of a magnitude here, and not an operator with space around it.
BAR = '<mo stretchy="false">&#x0007C;</mo>'
CLOSE_BAR = BAR.replace("<mo ", '<mo lspace="0" rspace="0" ')


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the units into the menu, and leave out a page that is not written yet."""
    listed = ["units/index.md", *({name: f"units/{name}.md"} for name in unit_pages.pages())]
    entries = {title: page for entry in config.nav or [] for title, page in entry.items()}
    entries["Units"] = listed
    there = {p.name for p in Path(config.docs_dir).glob("*.md")}
    config.nav = [
        {title: page} for title, page in entries.items() if page is listed or page in there
    ]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages of the units."""
    for name, page in {"index": unit_pages.overview(), **unit_pages.pages()}.items():
        files.append(File.generated(config, f"units/{name}.md", content=page))
    return files


def on_page_content(content: str, **_: object) -> str:
    """Draw formulas in the page itself, so that no script is needed to read it."""
    return FORMULA.sub(_drawn, content)


def _drawn(match: re.Match[str]) -> str:
    display = "block" if match[1] == "div" else "inline"
    drawn = convert(html.unescape(match[2]).strip(), display=display)
    return f'<{match[1]} class="formula">{drawn.replace(BAR, CLOSE_BAR)}</{match[1]}>'
