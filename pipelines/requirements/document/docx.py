"""The document as a Word file: contents, headings, tables, and links to what they lead to."""

from __future__ import annotations

import io
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from markdown_it.token import Token

from pipelines.requirements.document.markdown import CONVERSATION, NUMBER, silent
from pipelines.requirements.document.parsed import sections_of
from pipelines.requirements.labels import Document
from pipelines.types import Message

if TYPE_CHECKING:
    from docx.document import Document as WordDocument
    from docx.table import _Cell
    from docx.text.paragraph import Paragraph

LINK_COLOUR = "1F5BB5"
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NAME = re.compile(r"\W")
BULLET = "•"
MOST_NESTED = 3  # styles of lists that the template has
CONTENTS = "toc 1"
IN_TABLES = "Table Text"
PAGE_WIDTH, PAGE_HEIGHT, MARGIN = 21.0, 29.7, 2.2  # centimetres
MOST_WEIGHT = 60  # characters; longer texts give their column no more room
LONG_WORD = 16  # characters; a longer word is broken
CHARACTER = 0.2  # centimetres, of bold text in a table
CELL_MARGINS = 0.4  # centimetres, left and right of it


def write(document: Document, messages: Sequence[Message]) -> bytes:
    """A .docx. The conversation stands at its end, each message with a bookmark."""
    from docx import Document as new

    word = new()
    _describe(word, document)
    _lay_out(word)
    writer = _Writer(word)
    writer.heading(document["title"], level=0)
    if notice := document.get("notice", ""):
        writer.paragraph(notice, bold=True)
    sections = sections_of(document, messages)
    titles = [f"{number}. {section.title}" for number, section in enumerate(sections, start=1)]
    writer.contents([*titles, CONVERSATION])
    for number, (title, section) in enumerate(zip(titles, sections, strict=True), start=1):
        writer.heading(title, level=1, anchor=f"section-{number}")
        writer.blocks(section.tokens)
    if left_out := silent(document):
        writer.paragraph(left_out, italic=True)
    writer.heading(CONVERSATION, level=1, anchor=f"section-{len(titles) + 1}")
    for message in messages:
        writer.message(message)
    file = io.BytesIO()
    word.save(file)
    return file.getvalue()


def _describe(word: WordDocument, document: Document) -> None:
    """What a word processor shows as the file's properties, instead of the template's."""
    about = word.core_properties
    about.title = clean(document["title"])[:255]
    about.author = about.comments = about.last_modified_by = ""
    about.language = "en"
    for date in about._element.xpath("dcterms:created | dcterms:modified"):
        about._element.remove(date)  # those of the template


def _lay_out(word: WordDocument) -> None:
    """A4 with numbered pages, text that is read on paper, and styles that the template lacks."""
    from docx.enum.style import WD_STYLE_TYPE
    from docx.enum.text import WD_ALIGN_PARAGRAPH
    from docx.shared import Cm, Pt

    (section,) = word.sections
    section.page_width, section.page_height = Cm(PAGE_WIDTH), Cm(PAGE_HEIGHT)
    section.left_margin = section.right_margin = Cm(MARGIN)
    section.top_margin = section.bottom_margin = Cm(MARGIN)
    normal = word.styles["Normal"]
    normal.font.name, normal.font.size = "Calibri", Pt(10.5)
    normal.paragraph_format.space_after, normal.paragraph_format.line_spacing = Pt(5), 1.1
    for name, size, before, after in ((CONTENTS, 10.5, 0, 2), (IN_TABLES, 9, 2, 2)):
        style = word.styles.add_style(name, WD_STYLE_TYPE.PARAGRAPH)
        style.base_style, style.font.size = normal, Pt(size)
        style.paragraph_format.space_before = Pt(before)
        style.paragraph_format.space_after = Pt(after)
    page = section.footer.paragraphs[0]
    page.alignment = WD_ALIGN_PARAGRAPH.CENTER
    _field(page, "PAGE", "begin")
    _field(page, "", "end")


def _field(paragraph: Paragraph, instruction: str, kind: str) -> None:
    """The beginning of something that Word fills in, or its end. What is between is its result."""
    from docx.oxml import OxmlElement
    from docx.oxml.ns import qn

    mark = OxmlElement("w:fldChar")
    mark.set(qn("w:fldCharType"), kind)
    paragraph.add_run()._r.append(mark)
    if instruction:
        text = OxmlElement("w:instrText")
        text.set(qn("xml:space"), "preserve")
        text.text = instruction
        paragraph.add_run()._r.append(text)
        _field(paragraph, "", "separate")


def clean(text: str) -> str:
    """Without characters that XML cannot hold."""
    return _NOT_XML.sub("", text)


def bookmark_name(anchor: str) -> str:
    """``message-3`` as a name of a bookmark, which has no hyphens."""
    return _NAME.sub("_", anchor)


def is_right_to_left(text: str) -> bool:
    """By the first letter that has a direction, as ``dir="auto"`` decides."""
    for letter in text:
        direction = unicodedata.bidirectional(letter)
        if direction in ("L", "R", "AL"):
            return direction != "L"
    return False


@dataclass(frozen=True, slots=True)
class _Look:
    bold: bool = False
    italic: bool = False
    struck: bool = False
    code: bool = False
    href: str = ""


class _Place:
    """The lists and quotations that are open."""

    def __init__(self) -> None:
        self.lists: list[int | None] = []
        """Of each its next number, none of one with bullets."""
        self.quoted = 0
        self._item = ""

    def pass_by(self, token: Token) -> None:
        if token.type == "bullet_list_open":
            self.lists.append(None)
        elif token.type == "ordered_list_open":
            self.lists.append(int(token.attrs.get("start", 1)))
        elif token.type in ("bullet_list_close", "ordered_list_close"):
            self.lists.pop()
        elif token.type == "list_item_open":
            number = self.lists[-1]
            self._item = BULLET if number is None else f"{number}."
            self.lists[-1] = None if number is None else number + 1
        elif token.type in ("blockquote_open", "blockquote_close"):
            self.quoted += token.nesting

    def take_item(self) -> str:
        """What an item begins with; once, before its first paragraph."""
        item, self._item = self._item, ""
        return item


class _Writer:
    def __init__(self, word: WordDocument) -> None:
        self._word = word
        self._bookmarks = 0
        self._styles = {style.name: style.style_id for style in word.styles}

    def heading(self, text: str, *, level: int, anchor: str = "") -> None:
        paragraph = self._paragraph(f"Heading {level}" if level else "Title")
        paragraph.add_run(clean(" ".join(text.split())))
        if anchor:
            self._bookmark(paragraph, anchor)
        self._turned(paragraph)

    def contents(self, titles: Sequence[str]) -> None:
        """Links to the sections, in a field that Word can fill with the numbers of pages."""
        for number, title in enumerate(titles, start=1):
            paragraph = self._paragraph(CONTENTS)
            if number == 1:
                _field(paragraph, 'TOC \\o "1-1" \\h \\z', "begin")
            self._run(paragraph, " ".join(title.split()), _Look(href=f"#section-{number}"))
            if number == len(titles):
                _field(paragraph, "", "end")
            self._turned(paragraph)

    def _paragraph(self, style: str) -> Paragraph:
        """Word's library reads all styles of a file to name that of one paragraph."""
        paragraph = self._word.add_paragraph()
        paragraph._p.style = self._styles[style]
        return paragraph

    def paragraph(self, text: str, *, bold: bool = False, italic: bool = False) -> None:
        paragraph = self._word.add_paragraph()
        run = paragraph.add_run(clean(text))
        run.bold, run.italic = bold or None, italic or None
        self._turned(paragraph)

    def message(self, message: Message) -> None:
        head = self._word.add_paragraph()
        head.paragraph_format.keep_with_next = True
        head.paragraph_format.space_after = 0
        head.add_run(f"{message.index}  ")
        head.add_run(clean(message.speaker)).bold = True
        self._bookmark(head, f"message-{message.index}")
        self._turned(head)
        self.paragraph(message.content)

    def blocks(self, tokens: Sequence[Token]) -> None:
        """Top to bottom."""
        place = _Place()
        table: list[Token] = []
        for at, token in enumerate(tokens):
            if token.type == "table_close":
                self._table(table)
                table = []
            elif table or token.type == "table_open":
                table.append(token)
            elif token.type == "inline" and tokens[at - 1].type == "heading_open":
                self._heading(tokens[at - 1], token)
            elif token.type == "inline":
                self._text(token, place, leads=_leads(tokens, at))
            elif token.type in ("fence", "code_block"):
                paragraph = self._word.add_paragraph()
                self._run(paragraph, token.content.rstrip("\n"), _Look(code=True))
            else:
                place.pass_by(token)

    def _heading(self, opening: Token, inline: Token) -> None:
        level = min(max(int(opening.tag[1]) - 1, 2), 9)
        paragraph = self._paragraph(f"Heading {level}")
        self._inline(paragraph, inline)
        if "id" in opening.attrs:
            self._bookmark(paragraph, str(opening.attrs["id"]))
        self._turned(paragraph)

    def _text(self, inline: Token, place: _Place, *, leads: bool) -> None:
        from docx.shared import Cm

        depth, item = len(place.lists), place.take_item()
        nested = min(depth, MOST_NESTED)
        style = "Quote" if place.quoted else ""
        if item == BULLET:
            style = "List Bullet" if nested < 2 else f"List Bullet {nested}"
        paragraph = self._paragraph(style) if style else self._word.add_paragraph()
        paragraph.paragraph_format.keep_with_next = leads or None
        if depth and item != BULLET:  # a number of its own: Word's would go on from list to list
            paragraph.paragraph_format.left_indent = Cm(0.6 * depth)
            if item:
                paragraph.add_run(f"{item} ")
        self._inline(paragraph, inline)
        self._turned(paragraph)

    def _table(self, tokens: Sequence[Token]) -> None:
        from docx.shared import Cm

        rows: list[list[Token]] = []
        for at, token in enumerate(tokens):
            if token.type == "tr_open":
                rows.append([])
            elif token.type in ("th_open", "td_open"):
                rows[-1].append(tokens[at + 1])
        columns = max(map(len, rows), default=0)
        if not columns:
            return
        table = self._word.add_table(rows=len(rows), cols=columns, style="Table Grid")
        table.autofit = False
        widths = [Cm(width) for width in _widths(rows, columns)]
        for column, width in zip(table._tbl.tblGrid.gridCol_lst, widths, strict=True):
            column.w = width
        for number, (row, cells) in enumerate(zip(table.rows, rows, strict=True)):
            self._mark(row, "w:cantSplit")
            if number == 0:  # again on every page that the table goes on to
                self._mark(row, "w:tblHeader")
            for cell, width, inline in zip(row.cells, widths, cells, strict=False):
                cell._tc.width = width
                self._cell(cell, inline, bold=number == 0)
        self._word.add_paragraph()

    def _cell(self, cell: _Cell, inline: Token, *, bold: bool) -> None:
        (paragraph,) = cell.paragraphs
        paragraph._p.style = self._styles[IN_TABLES]
        self._inline(paragraph, inline, _Look(bold=bold))
        self._turned(paragraph)

    def _inline(self, paragraph: Paragraph, inline: Token, look: _Look = _Look()) -> None:
        for text, shown in _runs(inline.children or [], look):
            self._run(paragraph, text, shown)

    def _run(self, paragraph: Paragraph, text: str, look: _Look) -> None:
        from docx.oxml import OxmlElement
        from docx.shared import RGBColor

        prefix, hyphen, number = text.partition("-") if NUMBER.fullmatch(text) else (text, "", "")
        run = paragraph.add_run(clean(prefix))
        if hyphen:  # no line ends within the number of a requirement
            run._r.append(OxmlElement("w:noBreakHyphen"))
            run.add_text(number)
        run.bold, run.italic = look.bold or None, look.italic or None
        run.font.strike = look.struck or None
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
            part = paragraph.part.relate_to(
                clean(href), RELATIONSHIP_TYPE.HYPERLINK, is_external=True
            )
            link.set(qn("r:id"), part)
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
        place = 1 if paragraph._p.pPr is not None else 0
        paragraph._p.insert(place, start)
        paragraph._p.append(end)

    def _mark(self, row: Any, mark: str) -> None:
        from docx.oxml import OxmlElement

        row._tr.get_or_add_trPr().append(OxmlElement(mark))

    def _turned(self, paragraph: Paragraph) -> None:
        """What is written from right to left begins on the right."""
        from docx.oxml import OxmlElement

        if not is_right_to_left(paragraph.text):
            return
        paragraph._p.get_or_add_pPr().insert_element_before(OxmlElement("w:bidi"), *_AFTER_BIDI)
        for run in paragraph.runs:
            run.font.rtl = True


def _leads(tokens: Sequence[Token], at: int) -> bool:
    """Whether the next page must not begin behind this paragraph: a list or a table follows it, or
    it is the first of several under a heading."""
    after = tokens[at + 2].type if at + 2 < len(tokens) else ""
    headed = at > 1 and tokens[at - 2].type == "heading_close"
    return after in ("bullet_list_open", "table_open") or (headed and after == "paragraph_open")


def _widths(rows: Sequence[Sequence[Token]], columns: int) -> list[float]:
    """Centimetres: a column gets room for its words, and of the rest by how much is said in it."""
    least, weights = [], []
    for column in range(columns):
        texts = [_shown(row[column]) for row in rows if column < len(row)]
        word = max((len(word) for text in texts for word in text.split()), default=0)
        least.append(CELL_MARGINS + CHARACTER * min(word, LONG_WORD))
        weights.append(1 + min(sum(map(len, texts)) / len(texts), MOST_WEIGHT))
    rest = PAGE_WIDTH - 2 * MARGIN - sum(least)
    if rest < 0:  # more columns than the page has room for
        return [(PAGE_WIDTH - 2 * MARGIN) / columns] * columns
    return [
        width + rest * weight / sum(weights) for width, weight in zip(least, weights, strict=True)
    ]


def _shown(inline: Token) -> str:
    return "".join(text for text, _ in _runs(inline.children or [], _Look()))


_AFTER_BIDI = (
    "w:adjustRightInd",
    "w:snapToGrid",
    "w:spacing",
    "w:ind",
    "w:contextualSpacing",
    "w:mirrorIndents",
    "w:suppressOverlap",
    "w:jc",
    "w:textDirection",
    "w:textAlignment",
    "w:textboxTightWrap",
    "w:outlineLvl",
    "w:divId",
    "w:cnfStyle",
    "w:rPr",
    "w:sectPr",
    "w:pPrChange",
)
"""The order of a paragraph's properties is part of the format."""


def _runs(children: Sequence[Token], look: _Look) -> Iterator[tuple[str, _Look]]:
    """Pieces of text with their look; what is not text changes the look of what follows."""
    outside: list[_Look] = []
    for token in children:
        if token.nesting == 1:
            outside.append(look)
            look = _changed(look, token)
        elif token.nesting == -1:
            look = outside.pop()
        elif token.type in ("softbreak", "hardbreak"):
            yield (" " if token.type == "softbreak" else "\n"), look
        elif token.content:
            yield token.content, replace(look, code=look.code or token.type == "code_inline")


def _changed(look: _Look, opening: Token) -> _Look:
    if opening.type == "strong_open":
        return replace(look, bold=True)
    if opening.type == "em_open":
        return replace(look, italic=True)
    if opening.type == "s_open":
        return replace(look, struck=True)
    if opening.type == "link_open":
        return replace(look, href=str(opening.attrs["href"]))
    return look
