"""The document as a Word file: contents, headings, tables, and links to what they lead to."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from markdown_it.tree import SyntaxTreeNode

from pipelines.requirements.document.parsed import parsed
from pipelines.requirements.labels import Document
from pipelines.types import Message

if TYPE_CHECKING:
    from docx.document import Document as WordDocument
    from docx.text.paragraph import Paragraph

TEMPLATE = Path(__file__).with_name("document.docx")
"""An empty file with the paper, the styles and the numbers of pages."""
LINK_COLOUR = "1F5BB5"
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NAME = re.compile(r"\W")
IN_TABLES, SAID = "Table Text", "Message"


class Look(NamedTuple):
    bold: bool = False
    italic: bool = False
    code: bool = False
    href: str = ""


PLAIN, BOLD, CODE = Look(), Look(bold=True), Look(code=True)


def write(document: Document, messages: Sequence[Message]) -> bytes:
    """A .docx; what links lead to has a bookmark, and nothing is said of an author."""
    from docx import Document as new

    word = new(str(TEMPLATE))
    word.core_properties.title = clean(document["title"])[:255]
    writer = _Writer(word)
    for _, tokens in parsed(document, messages):
        writer.blocks(SyntaxTreeNode(tokens).children)
    file = io.BytesIO()
    word.save(file)
    return file.getvalue()


def clean(text: str) -> str:
    """Without characters that XML cannot hold."""
    return _NOT_XML.sub("", text)


def bookmark_name(anchor: str) -> str:
    """``message-3`` as a name of a bookmark, which has no hyphens."""
    return _NAME.sub("_", anchor)


class _Writer:
    def __init__(self, word: WordDocument) -> None:
        self._word = word
        self._bookmarks = 0
        self._styles = {style.name: style.style_id for style in word.styles}

    def blocks(self, nodes: Sequence[SyntaxTreeNode], depth: int = 0, style: str = "") -> None:
        """Top to bottom; ``depth`` is how many lists are open."""
        for node in nodes:
            if node.type == "heading":
                self._heading(node)
            elif node.type == "paragraph":
                self._text(node, depth, style)
            elif node.type in ("fence", "code_block"):
                self._run(self._word.add_paragraph(), node.content.rstrip("\n"), CODE)
            elif node.type == "table":
                self._table([row.children for part in node.children for row in part.children])
            elif node.type == "ordered_list":
                self._numbered(node, depth + 1)
            elif node.type == "bullet_list":
                for item in node.children:
                    self.blocks(item.children, depth + 1, f"List Bullet {min(depth + 1, 3)}")
            elif node.type == "blockquote":
                self.blocks(node.children, depth, "Quote")

    def _heading(self, node: SyntaxTreeNode) -> None:
        anchor, level = str(node.attrs.get("id", "")), int(node.tag[1])
        style = f"Heading {level - 1}" if level > 1 else "Title"
        style = SAID if anchor.startswith("message-") else style
        paragraph = self._styled(self._word.add_paragraph(), style)
        self._inline(paragraph, node)
        if anchor:
            self._bookmark(paragraph, anchor)

    def _numbered(self, node: SyntaxTreeNode, depth: int) -> None:
        """With numbers of their own: Word's would go on from list to list."""
        for number, item in enumerate(node.children, int(node.attrs.get("start", 1))):
            nodes = item.children
            if nodes and nodes[0].type == "paragraph":
                self._text(nodes[0], depth, number=f"{number}. ")
                nodes = nodes[1:]
            self.blocks(nodes, depth)

    def _text(self, node: SyntaxTreeNode, depth: int, style: str = "", *, number: str = "") -> None:
        from docx.shared import Cm

        paragraph = self._styled(self._word.add_paragraph(), style.removesuffix(" 1"))
        if number:
            self._run(paragraph, number, PLAIN)
        self._inline(paragraph, node)
        if depth and not style:
            paragraph.paragraph_format.left_indent = Cm(0.6 * depth)

    def _table(self, rows: Sequence[Sequence[SyntaxTreeNode]]) -> None:
        from docx.oxml import OxmlElement

        columns = max(map(len, rows), default=0)
        if not columns:
            return
        table = self._word.add_table(rows=len(rows), cols=columns, style="Table Grid")
        # again on every page that the table goes on to
        table.rows[0]._tr.get_or_add_trPr().append(OxmlElement("w:tblHeader"))
        for number, (row, nodes) in enumerate(zip(table.rows, rows, strict=True)):
            for cell, node in zip(row.cells, nodes, strict=False):
                paragraph = self._styled(cell.paragraphs[0], IN_TABLES)
                self._inline(paragraph, node, PLAIN if number else BOLD)
        self._word.add_paragraph()

    def _styled(self, paragraph: Paragraph, style: str) -> Paragraph:
        if style:  # by its id: the library reads all styles of a file to find that of a name
            paragraph._p.style = self._styles[style]
        return paragraph

    def _inline(self, paragraph: Paragraph, node: SyntaxTreeNode, look: Look = PLAIN) -> None:
        """What is not text changes the look of what is in it."""
        for child in node.children:
            if child.type in ("softbreak", "hardbreak"):
                self._run(paragraph, " " if child.type == "softbreak" else "\n", look)
            elif child.children:
                self._inline(paragraph, child, _changed(look, child))
            elif child.content:
                code = look.code or child.type == "code_inline"
                self._run(paragraph, child.content, look._replace(code=code))

    def _run(self, paragraph: Paragraph, text: str, look: Look) -> None:
        from docx.shared import RGBColor

        run = paragraph.add_run(clean(text))
        run.bold, run.italic = look.bold or None, look.italic or None
        if look.code:
            run.font.name = "Courier New"
        if look.href:
            run.font.underline = True
            run.font.color.rgb = RGBColor.from_string(LINK_COLOUR)
            self._link(paragraph, run._r, look.href)

    def _link(self, paragraph: Paragraph, run: Any, href: str) -> None:
        from docx.opc.constants import RELATIONSHIP_TYPE
        from docx.oxml import OxmlElement
        from docx.oxml.ns import qn

        link = OxmlElement("w:hyperlink")
        if href.startswith("#"):
            link.set(qn("w:anchor"), bookmark_name(href[1:]))
        else:
            to = paragraph.part.relate_to(
                clean(href), RELATIONSHIP_TYPE.HYPERLINK, is_external=True
            )
            link.set(qn("r:id"), to)
        paragraph._p.append(link)
        link.append(run)

    def _bookmark(self, paragraph: Paragraph, anchor: str) -> None:
        """Around the paragraph's text. Ids are unique in the file."""
        from docx.oxml import OxmlElement
        from docx.oxml.ns import qn

        start, end = OxmlElement("w:bookmarkStart"), OxmlElement("w:bookmarkEnd")
        for mark in (start, end):
            mark.set(qn("w:id"), str(self._bookmarks))
        start.set(qn("w:name"), bookmark_name(anchor))
        self._bookmarks += 1
        paragraph._p.insert(1 if paragraph._p.pPr is not None else 0, start)
        paragraph._p.append(end)


def _changed(look: Look, node: SyntaxTreeNode) -> Look:
    if node.type == "link":
        return look._replace(href=str(node.attrs["href"]))
    return look._replace(
        bold=look.bold or node.type == "strong", italic=look.italic or node.type == "em"
    )
