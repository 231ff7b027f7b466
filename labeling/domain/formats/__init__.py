"""Labels of several annotators as files, and conversations as others write them: a module a kind.

A reader and a writer meet in :mod:`labeling.domain.formats.answers`.
"""
