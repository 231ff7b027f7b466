"""Rules that read English say of another language that they cannot read it."""

from __future__ import annotations

import pytest

from pipelines.encoder import MiniLM
from pipelines.registry import build
from pipelines.requirements.analyst import LocalAnalyst
from pipelines.requirements.config import AgentConfig
from pipelines.requirements.document import sections
from pipelines.requirements.document.sections import Findings
from pipelines.requirements.language import NOTICE, is_foreign
from pipelines.types import Case, Message

GERMAN = (
    "Was soll das neue System können?",
    "Wir brauchen einen Kalender, in dem unsere Kunden Termine buchen. Export als PDF ist wichtig.",
    "Brauchen Sie auch ein Login?",
    "Nein, das wollen wir nicht. Die Daten müssen aber in Deutschland bleiben.",
)
SPANISH = (
    "Buenos días, ¿qué necesita?",
    "Necesitamos un sistema para reservar citas en línea. El export en PDF es importante.",
    "¿Necesita también un login?",
    "No, eso no lo queremos. Los datos deben guardarse en España.",
)
RUSSIAN = ("Что вам нужно?", "Нам нужен экспорт заказов в PDF каждую неделю.")


def talk(*texts: str) -> tuple[Message, ...]:
    roles = ("analyst", "client")
    return tuple(Message(n, roles[n % 2], roles[n % 2], text) for n, text in enumerate(texts))


@pytest.mark.parametrize("texts", [GERMAN, SPANISH, RUSSIAN])
def test_nothing_is_guessed_from_another_language_and_the_document_says_so(
    texts: tuple[str, ...],
) -> None:
    case = Case("c1", "", talk(*texts))

    analyst = LocalAnalyst(AgentConfig(merge_duplicates=False), MiniLM())
    labels, notes = analyst.extraction(Findings(case))
    document = sections.write(Findings(case, labels))

    assert build("requirements-local", {}).run(case)["notice"] == NOTICE
    assert build("requirements-agent", {}).run(case)["notice"] == NOTICE
    assert labels == []
    assert notes["foreign"]
    assert document["notice"] == NOTICE
    bodies = {section["id"] for section in document["sections"] if section["body"]}
    assert bodies == {"overview"}


@pytest.mark.parametrize(
    "text",
    [
        "CSV export pls. Google login, admin roles, dashboards realtime. Dark mode, push alerts.",
        "Der Kunde ruft an. That is what our people in Berlin say, and then they need to see the "
        "order at once, with the price that was agreed.",
        "¡Hola! We need the invoices in Spanish: “factura de la empresa”, not in English.",
        "",
    ],
)
def test_english_is_read_however_terse_it_is_or_whatever_it_names(text: str) -> None:
    assert not is_foreign(talk("What do you need?", text))
