"""The rules of labeling as plain functions on plain data: no Django, no files, no network."""
