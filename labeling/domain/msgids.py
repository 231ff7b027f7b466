"""Marks constant texts of the pure places for the catalogs; they are translated where shown."""


def msgid(text: str) -> str:
    """The text itself, as ``gettext_noop`` gives it: pure places import no Django."""
    return text
