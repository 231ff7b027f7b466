"""Where the agreement of a round stands, and the worked example of it."""

from __future__ import annotations

URL = "/projects/orders/rounds/1/agreement/"

# messages 0 to 7 of one conversation: the worked example, κ = 7/15
ANA = [0, 1, 3, 5, 6]
BEN = [0, 1, 3, 4, 5]
