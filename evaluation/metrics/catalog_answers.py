"""The metrics of answers; only runs whose answers were asked for have them."""

from evaluation.metrics.metric import rows

ANSWERS = [
    *rows(
        "answers",
        (
            "faithfulness",
            "Faithfulness",
            "How far the messages that the answer was written from bear it out, says a judge.",
        ),
        ("relevance", "Relevance", "How far the answer is about the question, says a judge."),
        ("completeness", "Completeness", "How much of the question it answers, says a judge."),
        (
            "correctness",
            "Correctness",
            "How far the answer says what the reference answer says, says a judge.",
        ),
        upper=10.0,
    ),
    *rows(
        "answers",
        (
            "answer_token_f1",
            "Answer token F1",
            "F1 of the stemmed words of answer and reference answer.",
        ),
    ),
]
