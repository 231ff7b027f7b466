"""Guidelines are text of users: whatever they hold, a page that shows them stays safe."""

import re

import pytest

from config.env import ROOT
from labeling.core.views.markdown import render_document, render_markdown

ATTACKS = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "a <b onclick=alert(1)>b</b>",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](&#106;avascript:alert(1))",
    "[x](java&Tab;script:alert(1))",
    "[x](java\\\nscript:alert(1))",
    "[x](\x01javascript:alert(1))",
    "[x](vbscript:msgbox(1))",
    "[x](data:text/html;base64,PHNjcmlwdD4=)",
    "[x](file:///etc/passwd)",
    "<javascript:alert(1)>",
    "[x][1]\n\n[1]: javascript:alert(1)",
    '[x](https://e.org "onmouseover=alert(1)")',
    '[x](https://e.org/"onmouseover="alert(1))',
    "![x](https://e.org/pixel.png)",
    "```html onload=x\n<script>\n```",
    '```"><script>alert(1)</script>\n```',
    "| a |\n|:-:|\n| <svg onload=alert(1)> |",
    "# x {onclick=alert(1)}",
]
ALLOWED = {
    *("h2", "h3", "p", "a", "em", "strong", "code", "pre", "ul", "ol", "li", "br", "s"),
    *("div", "table", "thead", "tbody", "tr", "th", "td", "blockquote", "hr"),
}


@pytest.mark.parametrize("text", ATTACKS)
def test_no_text_becomes_markup_that_runs(text):
    html = render_markdown(text)

    tags = re.findall(r"<(/?)(\w+)([^>]*)>", html)
    assert {name for _, name, _ in tags} <= ALLOWED
    for _, _, attributes in tags:
        names = re.findall(r'([\w-]+)="[^"]*"', attributes)
        assert set(names) <= {"href", "title", "class", "tabindex", "start", "scope"}
    for href in re.findall(r'href="([^"]*)"', html):
        assert re.match(r"(https?:|mailto:|/|#|[^:]*$)", href), href


def test_what_guidelines_need_is_rendered():
    html = render_markdown(
        "# Types\n\n*one* and **two**\n\n- a\n- b\n\n[s](https://e.org)\n\n    code"
    )

    assert "<h2>Types</h2>" in html
    assert "<em>one</em> and <strong>two</strong>" in html
    assert "<li>a</li>" in html
    assert '<a href="https://e.org">s</a>' in html
    assert '<pre tabindex="0"><code>code' in html


def test_tables_scroll_by_themselves_and_figures_stand_right_without_a_style():
    html = render_markdown("| a | b |\n| :-- | --: |\n| 1 | 2 |")

    assert '<div class="table-wrap" tabindex="0"><table class="table">' in html
    assert '<td class="num">2</td>' in html
    assert "style=" not in html


def test_documents_have_distinct_anchors_at_headings_and_named_rows_and_texts_of_users_none():
    text = "# A\n\n## `b_c` d\n\n## `b_c` d\n\n[x](gold.md#freeze)\n\n"
    table = "| x | y |\n| --- | --: |\n| `mrr` | `b` |"
    document = render_document(text + table, link=lambda target: f"/docs/{target}")
    assert [heading.anchor for heading in document.headings] == ["a", "b_c-d", "b_c-d-2"]
    assert '<h2 id="b_c-d">' in document.html
    assert '<td id="mrr"><code>mrr</code></td>' in document.html
    assert '<td class="num"><code>b</code></td>' in document.html
    assert '<a href="/docs/gold.md#freeze">x</a>' in document.html
    assert "id=" not in render_markdown(text + table)


def test_nothing_but_this_says_that_text_is_markup():
    """Templates escape what they show; the sheet of a report is a file of ours."""
    files = [*(ROOT / "templates").rglob("*.html")]
    for top in ("config", "labeling", "evaluation"):
        files += (ROOT / top).rglob("*.py")
    word = re.compile(r"\|\s*safe(seq)?\b|autoescape off|mark_safe\(|SafeString\(")
    trusting = {
        file.relative_to(ROOT).as_posix()
        for file in files
        if word.search(file.read_text(encoding="utf-8"))
    }

    assert trusting == {"labeling/core/views/markdown.py", "templates/evaluation/report.html"}
