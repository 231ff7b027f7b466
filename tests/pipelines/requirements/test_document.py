"""The requirements document: its sections, its links, and words that stay words."""

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
from pipelines.requirements.document.sections import SECTIONS, Findings, write
from pipelines.types import Case, Message
from tests.layers import REQUIREMENT


def message(index, content="I must log in", speaker="user"):
    return Message(index=index, role=speaker, speaker=speaker, content=content)


def stated(number=1, **fields):
    label = {name: value for name, value in REQUIREMENT.items() if name != "uid"}
    return label | {
        "id": f"REQ-{number:03d}",
        "title": "Login",
        "actor": "User",
        "action": "Log in by e-mail",
        "acceptance_criteria": ["It opens", "It closes"],
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
        *("scope", "open_questions", "assumptions"),
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


@pytest.mark.parametrize(
    ("labels", "inferences", "section", "says"),
    [
        ([stated()], [], "functional", "### REQ-001\n\n**Login** (must, confidence 0.80)\n"),
        ([stated()], [], "functional", "Log in by e-mail. Message [0](#message-0)."),
        ([stated(source_messages=[])], [], "functional", "Messages none."),
        ([stated(condition="When asked")], [], "functional", "Log in by e-mail when asked."),
        ([stated(quoted=True)], [], "functional", "In the words of the talk: Log in by e-mail"),
        ([stated(condition="If lost")], [], "edge_cases", "If lost: [REQ-001](#req-001) Login"),
        ([stated()], [], "edge_cases", "- [REQ-001](#req-001) (warning, too broad)"),
        ([stated()], [], "scope", "- **Must** (1): [REQ-001](#req-001)"),
        ([stated(source_messages=[0, 1])], [], "traceability", "[0](#message-0), [1](#message-1)"),
        ([stated()], [], "traceability", "user: I must log in |"),
        ([stated()], [inferred()], "assumptions", "### INF-001\n\n**Account Lockout** (must, conf"),
        ([stated()], [inferred()], "assumptions", "follows from [REQ-001](#req-001).*"),
        ([stated()], [inferred()], "acceptance_tests", "**[REQ-001](#req-001) Login**"),
        (
            [stated(source_messages=[1])],
            [inferred()],
            "traceability",
            "| [INF-001](#inf-001) Account Lockout | [1](#message-1) | follows from [REQ-001](#",
        ),
        (
            [stated(id="the first")],
            [inferred(triggered_by=["the first"])],
            "traceability",
            "| follows from the first |",
        ),
        (  # people's name of it
            [stated(uid="3f2a")],
            [inferred(triggered_by=["3f2a"])],
            "traceability",
            "follows from [REQ-001](#req-001)",
        ),
        ([stated(wanted=0.9)], [], "overview", "the estimated chance that it is wanted, from 0 to"),
    ],
)
def test_what_a_document_says_of_its_labels(labels, inferences, section, says):
    talk = tuple(message(number) for number in range(12))

    assert says in bodies(labels, inferences, [ISSUE], messages=talk)[section]


def test_the_overview_counts_one_and_several():
    one = bodies([stated()], [inferred()], [ISSUE], messages=TALK[:1])["overview"]
    both = [stated(), stated(2, title="List", action="Print a list")]
    several = bodies(both, [], [ISSUE, ISSUE | {"requirement": "REQ-002"}])["overview"]

    assert "1 message long." in one
    assert "- 1 stated requirement\n- 1 assumption, which nobody asked for\n" in one
    assert "- 0 open questions\n- 1 remark on the wording" in one
    assert "- 2 stated requirements\n- 0 assumptions, which nobody asked for\n" in several
    assert "- 1 remark on the wording" in several  # which holds for both
    assert "from 0 to 1" not in bodies()["overview"]


def test_what_nobody_asked_for_stands_apart_and_what_nobody_spoke_of_is_empty():
    result = bodies([stated(source_messages=[0, 1])], [inferred(type="functional")])

    naming = {name for name, body in result.items() if "INF-001" in body}
    assert naming == {"assumptions", "acceptance_tests", "traceability"}
    assert {name for name, body in result.items() if not body} == {
        *("non_functional", "data_model", "security_compliance", "interfaces"),
        *("edge_cases", "open_questions"),
    }


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


IN_TEXT = {"p", "br", "ul", "li", "strong", "em", "a", "blockquote", "h1", "h2", "h3"} | {
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


def test_the_whole_text_ends_with_the_conversation_that_its_links_lead_to():
    text = markdown.write(
        written([stated(source_messages=[1])]), (message(0), message(1, "By e-mail"))
    )

    assert "[1](#message-1)" in text
    assert text.index("### Message 1") > text.index("## Conversation")
    assert "**user:** By e-mail" in text
    assert "*Left out, because they are empty: Non-functional requirements, Data, " in text


# --- files ---


NO_TEXT = ["</style><b>", "\x00\x08\ud800 \uffff", "\u202eabc"]


def rendered(document, messages):
    return MarkdownIt("commonmark").enable("table").render(markdown.write(document, messages))


@pytest.mark.parametrize(
    ("write", "tags"),
    [
        (rendered, set()),
        (html_file.write, {"html", "head", "meta", "title", "style", "body", "main", "nav", "div"}),
    ],
)
@pytest.mark.parametrize("attack", [*ATTACKS, *NO_TEXT])
def test_no_words_act_and_all_are_shown(write, tags, attack):
    page = Page(write(*attacked(attack)))

    assert page.tags <= IN_TEXT | tags
    assert not {name for name in page.attributes if name.startswith("on")}
    assert not page.attributes & {"style", "src"}
    assert all(re.fullmatch(r"#[a-z]+(?:-\d+)?", link) for link in page.links)
    if attack in ATTACKS:
        assert page.text.count(" ".join(attack.split())) >= PLACES


def test_no_words_make_a_part_of_the_word_file():
    attack = "\n".join([*ATTACKS, *NO_TEXT])

    word = WordDocument(BytesIO(docx_file.write(*attacked(attack))))

    styles = {paragraph.style.name for paragraph in word.paragraphs}
    assert styles <= {
        *("Title", "Heading 1", "Heading 2", "Normal", "List Bullet", "Quote", "Message")
    }
    targets = {one.get(qn("w:name")) for one in word.element.body.iter(qn("w:bookmarkStart"))}
    anchors = {one.get(qn("w:anchor")) for one in word.element.body.iter(qn("w:hyperlink"))}
    assert anchors <= targets
    assert "<script>alert(1)</script> [click](javascript:alert(1))" in word.paragraphs[0].text


def test_a_page_fetches_nothing_and_every_link_in_it_leads_somewhere():
    page = html_file.write(written([stated()], [inferred(triggered_by=["REQ-001", "gone"])]), TALK)

    links = re.findall(r'href="([^"]*)"', page)
    assert {"#message-0", "#req-001", "#section-1"} <= set(links)
    assert all(f'id="{link[1:]}"' in page for link in links)
    assert not re.search(r"(?:src|url)\s*[=(]", page)


def test_what_another_pipeline_wrote_gets_no_tags_of_its_own_and_no_links_but_safe_ones():
    body = "[a](javascript:alert(1)) [b](#no) [c](//evil.example) [d](https://a.example) ![e](x)"
    body += " <img src=x onerror=alert(1)>\n\n<script>alert(2)</script>"
    document = {"title": "RD", "sections": [{"id": '"><b', "title": "<b>", "body": body}]}

    page = html_file.write(document, ())

    assert re.findall(r'href="([^"]*)"', page) == [
        "#section-1",
        "#section-2",
        "https://a.example",
    ]
    assert not {"b", "img", "script"} & Page(page).tags
    assert "&lt;script&gt;alert(2)" in page


def test_a_word_file_has_headings_tables_and_a_bookmark_for_every_link():
    made = docx_file.write(written([stated(source_messages=[1])], [inferred()], [ISSUE]), TALK)

    word = WordDocument(BytesIO(made))
    body = word.element.body
    targets = {one.get(qn("w:name")) for one in body.iter(qn("w:bookmarkStart"))}
    anchors = {one.get(qn("w:anchor")) for one in body.iter(qn("w:hyperlink"))}
    ids = [one.get(qn("w:id")) for one in body.iter(qn("w:bookmarkStart"))]
    assert {"message_1", "req_001"} <= anchors <= targets
    assert len(ids) == len(set(ids))
    headings = [p.text for p in word.paragraphs if p.style.name == "Heading 1"]
    assert headings[-1] == "Conversation"
    listed = word.paragraphs[1 : 1 + len(headings)]
    assert ["".join(link.text for link in p.hyperlinks) for p in listed] == headings
    footer = word.sections[0].footer.paragraphs[0]._p
    assert footer.xpath("string(.//w:fldSimple/@w:instr)") == "PAGE"
    assert word.tables[0].rows[0].cells[0].text
    assert word.core_properties.author == ""


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


# --- what became of the talk ---

SPOKEN = (
    ("analyst", "Tell me about the bakery. What should the program do?"),
    ("user", "Our bakers write every order on paper, and we want one list for all of them."),
    ("analyst", "Should customers pay online?"),
    ("user", "No, we don't want that."),
    ("analyst", "Should the list be printed every evening?"),
    ("user", "Yes, please."),
    ("analyst", "How long should orders be kept? Do you have any questions for us?"),
)


@pytest.mark.parametrize(
    ("section", "says"),
    [
        ("scope", "Out of scope:\n\n| Wish or proposal | Messages | What became of it |"),
        ("scope", "| not wanted in message [3](#message-3): “No, we don't want that"),
        ("stakeholders", "| Customer | [2](#message-2) |  |"),
        ("open_questions", "“How long should orders be kept?” ([6](#message-6)): not answered"),
    ],
)
def test_what_a_document_says_of_the_talk(section, says):
    assert says in spoken(*SPOKEN)[section]
    assert "any questions" not in spoken(*SPOKEN)["open_questions"]


def spoken(*said, labels=()):
    """What a document says of a talk: who, and what they say."""
    return bodies(labels, messages=[message(at, text, who) for at, (who, text) in enumerate(said)])


def test_what_is_only_quoted_follows_what_is_worded():
    functional = bodies([stated(1, quoted=True), stated(2)])["functional"]

    assert functional.index("### REQ-002") < functional.index("### REQ-001")


def test_a_requirement_is_traced_to_the_sentence_that_says_it_and_a_long_one_is_cut():
    long = f"We bake bread. The oven must ring a bell {'very loudly ' * 20}. It is old."

    traced = spoken(
        ("analyst", "Tell me."),
        ("user", long),
        labels=[stated(action="Ring a bell", source_messages=[0, 1])],
    )["traceability"]

    assert "| user: The oven must ring a bell very" in traced
    assert traced.endswith("very… |")


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
