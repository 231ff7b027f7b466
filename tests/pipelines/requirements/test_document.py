"""The requirements document: its sections, its links, and words that stay words."""

import html
import re
from html.parser import HTMLParser
from io import BytesIO

import pytest
from docx import Document as WordDocument
from docx.oxml.ns import qn
from markdown_it import MarkdownIt

from evaluation.metrics.document import SECTIONS as REQUIRED
from evaluation.metrics.document import score_document
from evaluation.metrics.items import Counts
from pipelines.requirements.document import docx as docx_file
from pipelines.requirements.document import html as html_file
from pipelines.requirements.document import markdown
from pipelines.requirements.document.markdown import plain
from pipelines.requirements.document.sections import SECTIONS, Findings, write
from pipelines.types import Case, Message


def message(index, content="I must log in", speaker="user"):
    return Message(index=index, role=speaker, speaker=speaker, content=content)


def stated(number=1, **fields):
    return {
        "id": f"REQ-{number:03d}",
        "title": "Login",
        "type": "functional",
        "actor": "User",
        "action": "Log in by e-mail",
        "condition": None,
        "acceptance_criteria": ["It opens", "It closes"],
        "priority": "must",
        "source_messages": [0],
        "rationale": "Said",
        "confidence": 0.8,
        **fields,
    }


def inferred(**fields):
    return {
        **stated(),
        "id": "INF-001",
        "title": "Account Lockout",
        "type": "security",
        "inference_type": "security",
        "triggered_by": ["REQ-001"],
        "necessity": "necessary",
        "source_messages": None,
        **fields,
    }


ISSUE = {
    "requirement": "REQ-001",
    "issue_type": "too_broad",
    "severity": "warning",
    "field": "action",
    "message": "“all” sets no limit",
    "suggested_fix": "List what is meant",
}


TALK = (message(0), message(1))


def written(requirements=(), inferences=(), issues=(), messages=TALK):
    case = Case("c1", "shop", tuple(messages))
    return write(Findings(case, list(requirements), list(inferences), list(issues)))


def bodies(*args, **fields):
    return {section["id"]: section["body"] for section in written(*args, **fields)["sections"]}


def test_it_has_the_eleven_sections_that_the_metric_asks_for_in_their_order():
    assert tuple(one.id for one in SECTIONS if one.id in REQUIRED) == REQUIRED
    assert {one.id for one in SECTIONS} - set(REQUIRED) == {
        "scope",
        "open_questions",
        "decisions",
        "assumptions",
        "withdrawn",
    }


@pytest.mark.parametrize(
    ("kind", "section"),
    [
        ("functional", "functional"),
        ("non-functional", "non_functional"),
        ("constraint", "non_functional"),
        ("data", "data_model"),
        ("security", "security_compliance"),
        ("interface", "interfaces"),
    ],
)
def test_a_requirement_stands_in_the_section_of_its_type_alone(kind, section):
    places = ("functional", "non_functional", "data_model", "security_compliance", "interfaces")

    result = bodies([stated(type=kind)])

    assert [name for name in places if "REQ-001" in result[name]] == [section]


@pytest.mark.parametrize("kind", ["functional", "security", "constraint"])
def test_what_nobody_asked_for_stands_apart_whatever_its_type(kind):
    result = bodies([stated()], [inferred(type=kind, inference_type="compliance")])

    naming = {name for name, body in result.items() if "INF-001" in body}
    assert naming == {"assumptions", "acceptance_tests", "traceability"}


def test_a_section_about_which_nothing_was_said_is_empty():
    result = bodies([stated(source_messages=[0, 1])])

    empty = {name for name, body in result.items() if not body}
    assert empty == {
        "non_functional",
        "data_model",
        "security_compliance",
        "interfaces",
        "edge_cases",
        "open_questions",
        "decisions",
        "assumptions",
        "withdrawn",
    }


def test_every_stated_requirement_is_traced_to_its_messages():
    result = bodies([stated(source_messages=[0, 1])])["traceability"]

    assert "[0](#message-0), [1](#message-1)" in result
    assert "user: I must log in" in result


def test_an_inferred_one_is_traced_through_what_it_follows_from():
    result = bodies([stated(source_messages=[1])], [inferred()])["traceability"]

    follows = "follows from [REQ-001](#req-001)"
    assert f"| [INF-001](#inf-001) Account Lockout | [1](#message-1) | {follows} |" in result


def test_what_others_follow_from_has_a_heading_to_which_the_links_lead():
    result = bodies([stated()], [inferred()])

    assert result["functional"].startswith("### REQ-001\n\n**Login** (must, confidence 0.80)\n")
    assert result["assumptions"].startswith("### INF-001\n\n**Account Lockout** (must, confidence")
    assert "**[REQ-001](#req-001) Login**" in result["acceptance_tests"]
    assert "| [REQ-001](#req-001) Login |" in result["traceability"]
    assert "follows from [REQ-001](#req-001).*" in result["assumptions"]


def test_a_number_that_makes_no_heading_to_link_to_stays_text():
    result = bodies([stated(id="the first")], [inferred(triggered_by=["the first"])])

    assert "| follows from the first |" in result["traceability"]


@pytest.mark.parametrize(
    ("sources", "said"),
    [
        ([0], "Message [0](#message-0)."),
        ([0, 1], "Messages [0](#message-0), [1](#message-1)."),
        ([], "Messages none."),
    ],
)
def test_one_message_is_not_called_messages(sources, said):
    assert said in bodies([stated(source_messages=sources)])["functional"]


def test_the_overview_counts_one_and_several():
    one = bodies([stated()], [inferred()], [ISSUE], messages=TALK[:1])["overview"]
    several = bodies([stated(), stated(2, title="List", action="Print a list")])["overview"]

    assert "1 message long." in one
    assert "- 1 stated requirement\n- 1 assumption, which nobody asked for\n" in one
    assert "- 0 open questions\n- 1 remark on the wording" in one
    assert "2 messages long." in several
    assert "- 2 stated requirements\n- 0 assumptions, which nobody asked for\n" in several
    assert "- 0 remarks on the wording\n" in several
    assert several.endswith("its priority and how sure the program is of it, from 0 to 1.")


def test_one_remark_that_holds_for_several_counts_once():
    issues = [ISSUE, ISSUE | {"requirement": "REQ-002"}]
    both = [stated(), stated(2, title="List", action="Print a list")]

    assert "- 1 remark on the wording" in bodies(both, [], issues)["overview"]


def test_the_figure_of_labels_that_say_so_is_the_chance_that_they_are_wanted():
    figures = "its priority and the estimated chance that it is wanted, from 0 to 1."

    assert figures in bodies([stated(wanted=0.9)])["overview"]
    assert "from 0 to 1" not in bodies()["overview"]


def test_a_requirement_that_people_named_is_shown_by_its_number():
    named = stated(uid="3f2a")

    result = bodies([named], [inferred(triggered_by=["3f2a"])], [ISSUE | {"requirement": "3f2a"}])

    assert "follows from [REQ-001](#req-001)" in result["traceability"]
    assert "[REQ-001](#req-001) (warning, too broad)" in result["edge_cases"]


def test_conditions_and_issues_are_edge_cases():
    result = bodies([stated(condition="If the card is lost")], [], [ISSUE])["edge_cases"]

    assert "If the card is lost: [REQ-001](#req-001) Login" in result
    assert "sets no limit" in result


def test_messages_that_do_not_exist_and_missing_fields_break_nothing():
    odd = {"id": "REQ-001", "title": None, "type": None, "source_messages": [99]}

    result = bodies([odd], [{"id": "INF-001", "triggered_by": ["gone"]}], [{"requirement": "x"}])

    assert "follows from gone" in result["traceability"]


def test_a_local_document_is_whole_where_everything_is_said():
    kinds = ("functional", "non-functional", "data", "security", "interface")
    requirements = [
        stated(number, type=kind, condition="If asked") for number, kind in enumerate(kinds, 1)
    ]

    result = score_document(Counts(5, 5, 5), requirements, written(requirements), message_count=2)

    assert result["rd_structure"].value == result["rd_traceability"].value == 1.0


# --- words of others ---

ATTACKS = [
    "<script>alert(1)</script>",
    "[click](javascript:alert(1))",
    "![x](http://evil.example/x.png)",
    "a | b | c",
    "**bold** _it_ `code` ~~gone~~",
    "# Heading",
    "1. one",
    "- item",
    "line\n\n# break",
    "&lt;b&gt; \\* end\\",
    "> quote",
    "=== ---",
    "[ref]: http://evil.example",
]


@pytest.mark.parametrize("attack", ATTACKS)
def test_what_somebody_wrote_is_shown_as_they_wrote_it(attack):
    rendered = MarkdownIt("commonmark").enable("table").render(plain(attack))

    assert html.unescape(rendered.strip()) == f"<p>{' '.join(attack.split())}</p>"


class Page(HTMLParser):
    """What a page shows, and what in it could act."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.attributes, self.links, self.said = set(), set(), [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.links += [value for name, value in attrs if name == "href"]

    def handle_data(self, data):
        self.said.append(data)

    @property
    def text(self):
        return " ".join("".join(self.said).split())


IN_TEXT = {"p", "ul", "li", "strong", "em", "a", "blockquote", "h1", "h2", "h3"} | {
    *("table", "thead", "tbody", "tr", "th", "td")
}
PLACES = 12
"""In how many places of a document each of these words is at least."""


def attacked(attack):
    fields = dict.fromkeys(("title", "actor", "action", "condition", "priority"), attack)
    fields |= {"acceptance_criteria": [attack, attack]}
    issue = ISSUE | {"message": attack, "suggested_fix": attack}
    case = Case("c1", attack, (message(0, attack, attack), message(1, f"We need {attack} now.")))
    inferences = [inferred(**fields, rationale=attack)]
    return write(Findings(case, [stated(**fields)], inferences, [issue])), case.messages


@pytest.mark.parametrize("attack", ATTACKS)
def test_no_words_act_in_the_text_and_all_are_shown(attack):
    text = markdown.write(*attacked(attack))

    page = Page(MarkdownIt("commonmark").enable("table").render(text))

    assert page.tags <= IN_TEXT
    assert page.attributes <= {"href"}
    assert all(re.fullmatch(r"#(?:message|req|inf)-\d+", link) for link in page.links)
    assert page.text.count(" ".join(attack.split())) >= PLACES


def test_the_whole_text_ends_with_the_conversation_that_its_links_lead_to():
    text = markdown.write(
        written([stated(source_messages=[1])]), (message(0), message(1, "By e-mail"))
    )

    assert "[1](#message-1)" in text
    assert text.index("### Message 1") > text.index("## Conversation")
    assert "**user:** By e-mail" in text
    assert "*Left out, because they are empty: Non-functional requirements, Data, " in text


# --- one file ---


NO_TEXT = ["</style><b>", "\x00\x08\ud800 \uffff", "\u202eabc"]


@pytest.mark.parametrize("attack", [*ATTACKS, *NO_TEXT])
def test_no_words_act_on_the_page(attack):
    page = Page(html_file.write(*attacked(attack)))

    assert page.tags <= IN_TEXT | {"html", "head", "meta", "title", "style", "body"} | {
        *("main", "nav", "section", "ol")
    }
    assert not {name for name in page.attributes if name.startswith("on")} | {"style", "src"} & (
        page.attributes
    )
    assert all(re.fullmatch(r"#[a-z]+(?:-\d+)?", link) for link in page.links)
    if attack in ATTACKS:
        assert page.text.count(" ".join(attack.split())) >= PLACES


def test_no_words_make_a_part_of_the_word_file():
    attack = "\n".join([*ATTACKS, *NO_TEXT])

    word = WordDocument(BytesIO(docx_file.write(*attacked(attack))))

    styles = {paragraph.style.name for paragraph in word.paragraphs}
    assert styles <= {"Title", "Heading 1", "Heading 2", "Normal", "List Bullet", "Quote", "toc 1"}
    targets = {one.get(qn("w:name")) for one in word.element.body.iter(qn("w:bookmarkStart"))}
    anchors = {one.get(qn("w:anchor")) for one in word.element.body.iter(qn("w:hyperlink"))}
    assert anchors <= targets
    assert "<script>alert(1)</script> [click](javascript:alert(1))" in word.paragraphs[0].text


def test_a_cell_of_a_table_has_the_name_of_its_column():
    body = "| Who | A <b> \\| c |\n| --- | --- |\n| x | y |\n\n| Thing |\n| --- |\n| z |"
    document = {"title": "RD", "sections": [{"id": "x", "title": "X", "body": body}]}

    page = html_file.write(document, ())

    labels = re.findall(r'<td[^>]* data-label="([^"]*)"', page)
    assert labels == ["Who", "A &lt;b&gt; | c", "Thing"]


def test_a_page_fetches_nothing_and_every_link_in_it_leads_somewhere():
    page = html_file.write(written([stated()], [inferred(triggered_by=["REQ-001", "gone"])]), TALK)

    links = re.findall(r'href="([^"]*)"', page)
    assert {"#message-0", "#req-001", "#section-1"} <= set(links)
    assert all(f'id="{link[1:]}"' in page for link in links)
    assert not re.search(r"(?:src|url)\s*[=(]", page)


def test_what_another_pipeline_wrote_gets_no_links_but_safe_ones():
    body = "[a](javascript:alert(1)) [b](#no) [c](//evil.example) [d](https://a.example) ![e](x)"
    document = {"title": "RD", "sections": [{"id": '"><b', "title": "<b>", "body": body}]}

    page = html_file.write(document, ())

    assert re.findall(r'href="([^"]*)"', page) == [
        "#section-1",
        "#conversation",
        "https://a.example",
    ]
    assert "<b>" not in page


def test_a_word_file_has_headings_tables_and_a_bookmark_for_every_link():
    made = docx_file.write(written([stated(source_messages=[1])], [inferred()], [ISSUE]), TALK)

    word = WordDocument(BytesIO(made))
    body = word.element.body
    targets = {one.get(qn("w:name")) for one in body.iter(qn("w:bookmarkStart"))}
    anchors = {one.get(qn("w:anchor")) for one in body.iter(qn("w:hyperlink"))}
    ids = [one.get(qn("w:id")) for one in body.iter(qn("w:bookmarkStart"))]
    assert {"message_1", "req_001"} <= anchors <= targets
    assert body.xpath("//w:hyperlink[@w:anchor='req_001']//w:noBreakHyphen")
    assert not body.xpath("//w:hyperlink[@w:anchor='section_6']//w:noBreakHyphen")
    assert len(ids) == len(set(ids))
    assert [p.text for p in word.paragraphs if p.style.name == "Heading 1"][-1] == "Conversation"
    assert word.tables[0].rows[0].cells[0].text
    assert word.core_properties.author == ""


def test_a_word_file_begins_with_links_to_its_sections_and_its_pages_have_numbers():
    word = WordDocument(BytesIO(docx_file.write(written([stated()]), TALK)))

    listed = [p for p in word.paragraphs if p.style.name == "toc 1"]
    headings = [p.text for p in word.paragraphs if p.style.name == "Heading 1"]
    assert ["".join(link.text for link in p.hyperlinks) for p in listed] == headings
    assert "TOC" in listed[0]._p.xpath("string(.//w:instrText)")
    footer = word.sections[0].footer.paragraphs[0]
    assert footer._p.xpath("string(.//w:instrText)") == "PAGE"
    assert [one.get(qn("w:fldCharType")) for one in footer._p.xpath(".//w:fldChar")] == [
        *("begin", "separate", "end")
    ]


def test_a_column_of_a_word_file_is_as_wide_as_what_it_says():
    body = f"| No | Text |\n| --- | --- |\n| 1 | {'many words ' * 20}|"
    document = {"title": "RD", "sections": [{"id": "x", "title": "X", "body": body}]}

    (table,) = WordDocument(BytesIO(docx_file.write(document, ()))).tables

    narrow, wide = (cell.width for cell in table.rows[1].cells)
    assert wide > 4 * narrow
    assert all(row._tr.xpath("./w:trPr/w:cantSplit") for row in table.rows)


def test_no_column_of_a_word_file_breaks_the_words_of_its_heading():
    decided = "a long sentence about what was decided in the end, " * 2
    rows = "\n".join(f"| {at} | {decided} | agreed | {decided} |" for at in range(30))
    body = f"| Message | What was decided on | Outcome | In these words |\n{'| --- ' * 4}|\n{rows}"
    document = {"title": "RD", "sections": [{"id": "x", "title": "X", "body": body}]}

    (table,) = WordDocument(BytesIO(docx_file.write(document, ()))).tables

    widths = [cell.width.cm for cell in table.rows[0].cells]
    assert min(widths[0], widths[2]) >= 1.75  # seven letters in bold, and the margins
    assert sum(widths) == pytest.approx(16.6, abs=0.01)


def test_nothing_under_the_number_of_a_requirement_begins_a_page_alone():
    word = WordDocument(BytesIO(docx_file.write(written([stated()]), TALK)))

    texts = [(p.text, p.paragraph_format.keep_with_next) for p in word.paragraphs]
    at = next(at for at, (text, _) in enumerate(texts) if text == "REQ-001")
    assert [kept for _, kept in texts[at + 1 : at + 3]] == [True, None]
    assert ("User", True) in texts  # of the use cases, above the list


def test_lists_of_others_keep_their_numbers_and_their_depth():
    listed = "3. three\n4. four\n   - below\n\n> said\n\n```\ncode\n```"
    body = f"{listed}\n\n| a | b |\n| --- | --- |\n| c | d |"
    document = {"title": "RD", "sections": [{"id": "x", "title": "X", "body": body}]}

    word = WordDocument(BytesIO(docx_file.write(document, ())))

    shown = [(p.style.name, p.text) for p in word.paragraphs[4:9]]
    assert shown == [
        ("Normal", "3. three"),
        ("Normal", "4. four"),
        ("List Bullet 2", "below"),
        ("Quote", "said"),
        ("Normal", "code"),
    ]
    assert [cell.text for row in word.tables[0].rows for cell in row.cells] == ["a", "b", "c", "d"]


def test_what_is_written_from_right_to_left_begins_on_the_right():
    talk = (message(0, "أريد قائمة", "علي"), message(1, "1. Yes"))
    document = written([stated(title="قائمة")], messages=talk)

    assert '<p class="said" dir="auto">' in html_file.write(document, talk)
    word = WordDocument(BytesIO(docx_file.write(document, talk)))
    turned = {
        p.text
        for p in word.paragraphs
        if p._p.pPr is not None and p._p.pPr.find(qn("w:bidi")) is not None
    }
    assert "أريد قائمة" in turned
    assert "1. Yes" not in turned


# --- what became of the talk ---

SPOKEN = (
    ("analyst", "Tell me about the bakery. What should the program do?"),
    ("user", "Our bakers write every order on paper, and we want one list for all of them."),
    ("analyst", "Should customers pay online?"),
    ("user", "No, we don't want that."),
    ("analyst", "Should the list be printed every evening?"),
    ("user", "Yes, please."),
    ("analyst", "How long should orders be kept?"),
)


def told():
    talk = tuple(message(at, text, who) for at, (who, text) in enumerate(SPOKEN))
    return bodies([stated(priority="must"), stated(2, title="List", quoted=True)], messages=talk)


def test_what_was_refused_is_out_of_scope_and_in_the_appendix_with_its_message_and_words():
    result = told()

    assert "customers pay online" in result["withdrawn"]
    assert "not wanted in message [3](#message-3): “No, we don't want that" in result["withdrawn"]
    assert "customers pay online" in result["scope"].split("Out of scope")[1]


IN_FULL = (*SPOKEN[:5], ("user", "Yes, because it hangs on the wall."), SPOKEN[6])


def test_a_decision_leads_to_the_requirement_that_it_became():
    talk = tuple(message(at, text, who) for at, (who, text) in enumerate(IN_FULL))
    printed = stated(2, title="Printing", action="Print the list", condition="Every evening")
    labels = [stated(source_messages=[5]), printed | {"source_messages": [4, 5]}]

    decided = bodies(labels, messages=talk)["decisions"]

    assert "| Should the list be printed every evening? | agreed: [REQ-002](#req-002) |" in decided
    assert "| Should customers pay online? | not wanted |" in decided


def test_a_mere_yes_is_no_decision_beside_its_requirement():
    talk = tuple(message(at, text, who) for at, (who, text) in enumerate(SPOKEN))
    printed = stated(2, title="Printing", action="Print the list", condition="Every evening")

    decided = bodies([printed | {"source_messages": [4, 5]}], messages=talk)["decisions"]

    assert "printed" not in decided
    assert "| Should customers pay online? | not wanted |" in decided


def test_a_requirement_that_was_decided_on_twice_has_the_last_row_alone():
    again = (
        ("analyst", "Should the list be printed every evening at six?"),
        ("user", "Yes, six works for the baker."),
    )
    talk = tuple(message(at, text, who) for at, (who, text) in enumerate((*IN_FULL, *again)))
    printed = stated(2, title="Printing", action="Print the list at six every evening")

    decided = bodies([printed | {"source_messages": [4, 5, 7, 8]}], messages=talk)["decisions"]

    assert decided.count("#req-002") == 1
    assert "every evening at six" in decided


def test_what_is_refused_for_now_is_put_off():
    result = spoken(
        ("user", "We need a list of orders."),
        ("analyst", "Should customers pay online?"),
        ("user", "No, not now."),
    )

    assert "| Should customers pay online? | put off |" in result["decisions"]
    assert "“Should customers pay online?”: put off ([2](#message-2))" in result["scope"]
    assert "put off in message [2](#message-2)" in result["withdrawn"]


def test_a_decision_has_its_message_and_an_open_question_its_own():
    result = told()

    assert "| [3](#message-3) | Should customers pay online? | not wanted |" in result["decisions"]
    assert (
        "“How long should orders be kept?” ([6](#message-6)): not answered"
        in (result["open_questions"])
    )


def test_the_scope_begins_with_what_the_client_wants_and_names_what_is_within():
    scope = told()["scope"]

    assert scope.startswith("What it is for, in the client's words:\n\n> “Our bakers write every")
    assert "**Must**\n\n- [REQ-001](#req-001) Login" in scope


def test_the_scope_shows_only_the_first_titles_of_a_priority():
    scope = bodies([stated(number) for number in range(1, 21)])["scope"]

    assert scope.count("Login") == 12
    assert "- 8 more: [REQ-013](#req-013), [REQ-014](#req-014)" in scope


def test_what_is_no_aim_is_not_given_as_one():
    scope = spoken(
        ("analyst", "Hello."),
        ("user", "Sorry it was the headset, my daughter used it for her school."),
        ("analyst", "How do you work today?"),
        ("user", "They write it on paper and I copy it by hand, it's a pain."),
    )["scope"]

    assert "headset" not in scope
    assert (
        "> “They write it on paper and I copy it by hand, it's a pain.” ([3](#message-3))" in scope
    )


def test_who_is_named_in_the_talk_is_a_stakeholder_with_messages():
    assert "| Customer | [2](#message-2) |  |" in told()["stakeholders"]


def test_what_is_only_quoted_follows_what_is_worded():
    quotation = stated(1, action="“It must stay”", title="“It must stay”", quoted=True)

    sections = bodies([quotation, stated(2, title="Login")], [], [])

    assert sections["functional"].index("### REQ-002") < sections["functional"].index("### REQ-001")
    assert "**“It must stay”**" not in sections["functional"]  # the quotation itself is below
    assert "**Quotation** (" in sections["functional"]
    assert "1 statement in the words of the talk: [REQ-001](#req-001)" in sections["scope"]


def test_a_condition_goes_on_with_what_is_done():
    saved = stated(1, action="Save the draft", condition="When the page is closed")

    assert "Save the draft when the page is closed." in bodies([saved], [], [])["functional"]


def test_a_quotation_says_that_it_is_one():
    assert "In the words of the talk: Log in by e-mail" in told()["functional"]


def test_a_list_that_nobody_could_use_begins_with_that():
    useless = [stated(number, action="See it") for number in (1, 2, 3)]

    document = written(useless)

    assert document["notice"].startswith("Most of these requirements are not usable: 3 of 3")
    assert "notice" not in written([stated(number) for number in (1, 2, 3)])
    assert document["sections"][4]["body"].count("**Not usable as it is worded:**") == 3
    assert "not usable: 3 of 3" in markdown.write(document, TALK).split("## ")[0]
    assert "not usable: 3 of 3" in html_file.write(document, TALK).split("<nav")[0]
    word = WordDocument(BytesIO(docx_file.write(document, TALK)))
    assert "not usable: 3 of 3" in word.paragraphs[1].text


def spoken(*said):
    """What a document says of a talk: who, and what they say."""
    return bodies(messages=[message(at, text, who) for at, (who, text) in enumerate(said)])


def test_a_requirement_is_traced_to_the_sentence_that_says_it():
    long = "We bake bread every night. The oven must ring a bell. It is old."
    talk = (message(0, "Tell me."), message(1, long))

    traced = bodies([stated(action="Ring a bell", source_messages=[0, 1])], messages=talk)

    assert "| user: The oven must ring a bell. |" in traced["traceability"]


def test_of_a_long_sentence_the_part_is_quoted_that_says_it():
    before = "and we bake rye bread at night for eleven shops in town that open at six or seven"
    after = "when it is hot enough for the cakes that my daughter makes out of butter and cherries"
    long = f"so {before} {before.replace('rye', 'white')} the oven must ring a bell {after}"
    talk = (message(0, "Tell me."), message(1, long))

    traced = bodies([stated(action="Ring a bell", source_messages=[1])], messages=talk)
    said = traced["traceability"].splitlines()[-1]

    assert "user: …" in said
    assert "ring a bell" in said
    assert said.endswith("… |")


def test_what_an_assumption_follows_from_is_traced_to_its_first_messages():
    many = [stated(number, source_messages=[number]) for number in range(1, 12)]
    talk = [message(number) for number in range(12)]
    triggers = [label["id"] for label in many]

    traced = bodies(many, [inferred(triggered_by=triggers)], messages=talk)["traceability"]

    assert "[8](#message-8) … |" in traced
    assert "[9](#message-9) … |" not in traced


def test_questions_about_the_talk_itself_are_no_open_questions():
    left_open = spoken(
        ("user", "We sell tiles in three shops."),
        ("analyst", "Which colours should the tiles have?"),
        ("analyst", "Mira, do you have any questions for us? Any other comments?"),
    )["open_questions"]

    assert "colours" in left_open
    assert "any questions" not in left_open
    assert "comments" not in left_open


def test_a_question_that_an_example_goes_on_with_is_answered_with_it():
    left_open = spoken(
        ("analyst", "Where should the menu hang? For example, in the hall, or in the kitchen?"),
        ("user", "In the hall."),
    )["open_questions"]

    assert "menu" not in left_open


def test_examples_of_questions_are_asked_of_nobody():
    left_open = spoken(
        (
            "analyst",
            "Let new members fill in a form. For example, a question is, which sport do you like? "
            "What is your age? Where do you live?",
        ),
        ("user", "A good idea."),
    )["open_questions"]

    assert "your age" not in left_open


def test_a_sound_is_no_reply_where_the_answer_follows():
    left_open = spoken(
        ("analyst", "Should the boats be listed by name, or by length?"),
        ("user", "Uh-huh. The boats are always listed by their home port."),
    )["open_questions"]

    assert "boats" not in left_open


def test_who_is_spoken_to_or_works_for_who_asks_is_no_stakeholder():
    people = spoken(
        ("analyst", "[teacher], go on. Uh, Instructor, do you see it? Our team knows Python."),
        ("user", "Nurses need the list every morning."),
    )["stakeholders"]

    assert "Nurse" in people
    assert not re.search("Teacher|Instructor|Staff", people)


@pytest.mark.parametrize(
    ("said", "is_somebody"),
    [
        ("The editor should show line numbers.", False),
        ("This editor is slow.", False),
        ("Editors write the articles.", True),
        ("An editor who is ill needs a substitute.", True),
    ],
)
def test_a_name_that_a_program_may_have_is_a_person_only_if_somebody_is_meant(said, is_somebody):
    people = spoken(("analyst", "Tell me about the paper."), ("user", said))["stakeholders"]

    assert ("| Editor |" in people) is is_somebody


def test_what_the_guests_want_to_do_is_no_thing():
    talk = [message(0, "The guests want to see the room."), message(1, "Our guests want to pay.")]
    both = [stated(number, action="Show the room that guests want") for number in (1, 2)]

    assert "| want |" not in bodies(both, messages=talk)["data_model"]


def test_people_are_no_things():
    talk = [message(0, "The guest is shown the room."), message(1, "Each guest has a room.")]
    both = [stated(number, action="Show the guest the room") for number in (1, 2)]

    things = bodies(both, messages=talk)["data_model"]

    assert "| room |" in things
    assert "| guest |" not in things
