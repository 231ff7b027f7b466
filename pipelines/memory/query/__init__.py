"""One question in five steps: intent, anchors, candidates, phases, cards."""
