"""What language models cost, in words: the same on pages and on the command line."""

from __future__ import annotations

from django.conf import settings
from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils.formats import number_format
from django.utils.translation import gettext, ngettext

from evaluation.models import Run
from evaluation.services.language_models.budgets import Estimate, digits_of
from evaluation.services.language_models.usage import Spent
from labeling.words import words


def estimate(expected: Estimate | None) -> str:
    if expected is None:
        return gettext("With these settings the pipeline uses no language model: it costs nothing.")
    return gettext(
        "{cases}, about {prompt} + {reply} tokens, {cost}. Counted: {basis}; replies in the "
        "cache cost nothing."
    ).format(
        cases=ngettext("{n} case", "{n} cases", expected.cases).format(n=intcomma(expected.cases)),
        prompt=intcomma(expected.prompt_tokens),
        reply=intcomma(expected.completion_tokens),
        cost=price(expected),
        basis=words(expected.basis),
    )


def price(expected: Estimate) -> str:
    if expected.cost is None:
        return gettext("the cost is unknown")
    return gettext("about {cost}").format(cost=_of_money(expected.cost))


def usage(spent: Spent, *, with_models: bool = False) -> list[tuple[str, str]]:
    """What was asked and what it cost, name by name."""
    calls = gettext("{calls}, {cached} from the cache").format(
        calls=intcomma(spent.calls), cached=intcomma(spent.cached)
    )
    waited = number_format(spent.seconds, 1, force_grouping=True)
    tokens = f"{intcomma(spent.prompt_tokens)} + {intcomma(spent.completion_tokens)}"
    mark = gettext("{figure} (partly estimated)") if spent.estimated else "{figure}"
    cost = gettext("unknown") if spent.cost is None else _of_money(spent.cost)
    rows: list[tuple[str, str]] = [
        (gettext("Calls"), calls),
        (gettext("Tokens"), mark.format(figure=tokens)),
        (gettext("Cost"), mark.format(figure=cost) if spent.cost else cost),
        (gettext("Waited for replies"), f"{waited} s"),
    ]
    if spent.cached_tokens:
        text = gettext("{n} tokens of the prompts")
        rows.append((gettext("Kept by the provider"), text.format(n=intcomma(spent.cached_tokens))))
    if spent.reasoning_tokens:
        text = gettext("{n} tokens of the replies")
        rows.append((gettext("Reasoning"), text.format(n=intcomma(spent.reasoning_tokens))))
    if spent.schema_by:
        text = gettext("the server takes no strict schemas: they were handed over or worded")
        rows.append((gettext("Schema"), text))
    if with_models and spent.models:
        rows.append((gettext("Replies came from"), ", ".join(spent.models)))
    return rows


def usage_line(spent: Spent) -> str:
    lines = usage(spent, with_models=True)
    return "; ".join(f"{name[0].lower()}{name[1:]} {text}" for name, text in lines)


def budget(of: Run) -> str:
    if of.budget_tokens is None:
        return gettext("no limit") if of.budget_cost is None else _of_money(of.budget_cost)
    tokens = intcomma(of.budget_tokens)
    if of.budget_cost is None:
        return gettext("{n} tokens").format(n=tokens)
    return gettext("{money} and {n} tokens").format(money=_of_money(of.budget_cost), n=tokens)


def _of_money(amount: float) -> str:
    text = number_format(f"{amount:.{digits_of(amount)}f}", force_grouping=True)
    return f"{text} {settings.LLM_CURRENCY}"
