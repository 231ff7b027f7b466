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
    assert tuple(one.id for one in SECTIONS) == REQUIRED


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


def test_what_protects_stands_under_security_whatever_its_type():
    result = bodies([stated()], [inferred(type="constraint", inference_type="compliance")])

    assert "INF-001" in result["security_compliance"]
    assert "INF-001" not in result["non_functional"]


def test_a_section_about_which_nothing_was_said_is_empty():
    result = bodies([stated()])

    empty = {name for name, body in result.items() if not body}
    assert empty == {
        "non_functional",
        "data_model",
        "security_compliance",
        "interfaces",
        "edge_cases",
    }


def test_without_any_requirement_only_the_overview_says_something():
    assert {name for name, body in bodies().items() if body} == {"overview"}


def test_every_stated_requirement_is_traced_to_its_messages():
    result = bodies([stated(source_messages=[0, 1])])["traceability"]

    assert "[0](#message-0), [1](#message-1)" in result
    assert "user: I must log in" in result


def test_an_inferred_one_is_traced_through_what_it_follows_from():
    result = bodies([stated(source_messages=[1])], [inferred()])["traceability"]

    follows = "follows from [REQ-001](#req-001)"
    assert f"| INF-001 Account Lockout | [1](#message-1) | {follows} |" in result


def test_what_others_follow_from_has_a_heading_to_which_the_links_lead():
    result = bodies([stated()], [inferred()])

    assert result["functional"].startswith("### REQ-001\n\n**Login** (must) ")
    assert "follows from [REQ-001](#req-001).*" in result["security_compliance"]


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
    several = bodies([stated(), stated(2)])["overview"]

    assert "1 message long." in one
    assert "- 1 stated requirement\n- 1 inferred one, which nobody asked for\n- 1 open issue" in one
    assert "2 messages long." in several
    assert "- 2 stated requirements\n- 0 inferred ones, which nobody asked for\n" in several
    assert several.endswith("- 0 open issues")


def test_a_requirement_that_people_named_is_shown_by_its_number():
    named = stated(uid="3f2a")

    result = bodies([named], [inferred(triggered_by=["3f2a"])], [ISSUE | {"requirement": "3f2a"}])

    assert "follows from [REQ-001](#req-001)" in result["traceability"]
    assert "**REQ-001** (warning, too broad)" in result["edge_cases"]


def test_conditions_and_issues_are_edge_cases():
    result = bodies([stated(condition="If the card is lost")], [], [ISSUE])["edge_cases"]

    assert "If the card is lost: Log in by e-mail (REQ-001)" in result
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


@pytest.mark.parametrize("attack", ATTACKS)
def test_it_makes_no_element_anywhere_in_the_document(attack):
    fields = dict.fromkeys(("title", "actor", "action", "condition", "priority", "id"), attack)
    texts = {**fields, "acceptance_criteria": [attack, attack]}
    clean = dict.fromkeys(fields, "x") | {"acceptance_criteria": ["x", "x"]}

    def elements(words, said):
        document = written(
            [stated(**words)],
            [inferred(**words, rationale=said)],
            [ISSUE | {"message": said, "suggested_fix": said}],
            messages=(message(0, said, said), message(1, said, said)),
        )
        text = markdown.write(document, (message(0, said, said),))
        return [t.type for t in MarkdownIt("commonmark").enable("table").parse(text)]

    assert elements(texts, attack) == elements(clean, "x")


def test_the_whole_text_ends_with_the_conversation_that_its_links_lead_to():
    text = markdown.write(
        written([stated(source_messages=[1])]), (message(0), message(1, "By e-mail"))
    )

    assert "[1](#message-1)" in text
    assert text.index("### Message 1") > text.index("## Conversation")
    assert "**user:** By e-mail" in text
    assert "*Nothing was said about: Non-functional requirements, Data model, " in text


# --- one file ---


def elements_of(page):
    """Every element of a page, with the names of its attributes."""
    elements = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag, attrs):
            elements.append((tag, sorted(name for name, _ in attrs)))

    Reader().feed(page)
    return elements


def attacked(attack):
    fields = dict.fromkeys(("title", "actor", "action", "condition", "priority"), attack)
    fields |= {"acceptance_criteria": [attack, attack]}
    issue = ISSUE | {"message": attack, "suggested_fix": attack}
    case = Case("c1", attack, (message(0, attack, attack),))
    inferences = [inferred(**fields, rationale=attack)]
    return write(Findings(case, [stated(**fields)], inferences, [issue])), case.messages


NO_TEXT = ["</style><b>", "\x00\x08\ud800 \uffff", "\u202eabc"]


@pytest.mark.parametrize("attack", [*ATTACKS, *NO_TEXT])
def test_no_words_make_an_element_of_the_page(attack):
    page, harmless = (html_file.write(*attacked(words)) for words in (attack, "x"))

    assert elements_of(page) == elements_of(harmless)


def test_no_words_make_a_part_of_the_word_file():
    file, harmless = (
        WordDocument(BytesIO(docx_file.write(*attacked(words))))
        for words in ("\n".join([*ATTACKS, *NO_TEXT]), "x")
    )

    styles = [[p.style.name for p in each.paragraphs] for each in (file, harmless)]
    assert styles[0] == styles[1]
    assert len(file.tables) == len(harmless.tables)


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
    assert len(ids) == len(set(ids))
    assert [p.text for p in word.paragraphs if p.style.name == "Heading 1"][-1] == "Conversation"
    assert word.tables[0].rows[0].cells[0].text
    assert word.core_properties.author == ""


def test_lists_of_others_keep_their_numbers_and_their_depth():
    listed = "3. three\n4. four\n   - below\n\n> said\n\n```\ncode\n```"
    body = f"{listed}\n\n| a | b |\n| --- | --- |\n| c | d |"
    document = {"title": "RD", "sections": [{"id": "x", "title": "X", "body": body}]}

    word = WordDocument(BytesIO(docx_file.write(document, ())))

    shown = [(p.style.name, p.text) for p in word.paragraphs[2:7]]
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
