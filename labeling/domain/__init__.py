"""The rules of labelling as plain functions on plain data: no Django, no files, no network."""
