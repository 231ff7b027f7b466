"""From several answers to one: merging, adjudication, review, provenance."""
