"""Gold that was made elsewhere, read from files: native lines, or DuEE-style event lines."""

from labeling.exchange.gold_lines.duee import read_duee
from labeling.exchange.gold_lines.native import GoldLine, conversations_named, read_native_gold

__all__ = ["GoldLine", "conversations_named", "read_duee", "read_native_gold"]
