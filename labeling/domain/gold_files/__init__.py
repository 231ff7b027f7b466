"""Gold that was made elsewhere, read from files: native lines, or DuEE-style event lines."""

from labeling.domain.gold_files.duee import read_duee
from labeling.domain.gold_files.native import GoldLine, conversations_named, read_native_gold

__all__ = ["GoldLine", "conversations_named", "read_duee", "read_native_gold"]
