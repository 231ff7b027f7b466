"""Labels of several annotators as files: one module for each format.

A reader and a writer meet in :mod:`labeling.domain.formats.answers`; what a format cannot carry is
declared in :mod:`labeling.domain.formats.losses`.
"""
