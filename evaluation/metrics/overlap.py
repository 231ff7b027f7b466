"""The longest piece that two texts share."""


def longest_common_substring(a: str, b: str) -> int:
    """Its length in characters, in time and space that grow with the texts' lengths.

    References
    ----------
    A. Blumer, J. Blumer, D. Haussler, A. Ehrenfeucht, M. T. Chen, J. Seiferas, "The smallest
    automaton recognizing the subwords of a text", Theoretical Computer Science 40, 1985.

    Examples
    --------
    >>> longest_common_substring("上海公司", "公司上海")
    2
    >>> longest_common_substring("abc", "xyz")
    0
    """
    if len(a) > len(b):
        a, b = b, a
    moves, links, lengths = _automaton(a)
    state = length = longest = 0
    for letter in b:
        while state and letter not in moves[state]:
            state = links[state]
            length = lengths[state]
        if letter in moves[state]:
            state = moves[state][letter]
            length += 1
        longest = max(longest, length)
    return longest


def _automaton(text: str) -> tuple[list[dict[str, int]], list[int], list[int]]:
    """Transitions, suffix links and longest lengths of the states of a suffix automaton."""
    moves: list[dict[str, int]] = [{}]
    links, lengths = [-1], [0]
    last = 0
    for letter in text:
        new = len(moves)
        moves.append({})
        lengths.append(lengths[last] + 1)
        links.append(0)
        state = last
        while state >= 0 and letter not in moves[state]:
            moves[state][letter] = new
            state = links[state]
        if state >= 0:
            target = moves[state][letter]
            if lengths[target] == lengths[state] + 1:
                links[new] = target
            else:
                links[new] = links[target] = _clone(moves, links, lengths, state, target)
                _redirect(moves, links, state, letter, target)
        last = new
    return moves, links, lengths


def _clone(
    moves: list[dict[str, int]], links: list[int], lengths: list[int], state: int, target: int
) -> int:
    moves.append(dict(moves[target]))
    links.append(links[target])
    lengths.append(lengths[state] + 1)
    return len(moves) - 1


def _redirect(
    moves: list[dict[str, int]], links: list[int], state: int, letter: str, target: int
) -> None:
    """Send the shorter suffixes to the clone that was added last."""
    clone = len(moves) - 1
    while state >= 0 and moves[state].get(letter) == target:
        moves[state][letter] = clone
        state = links[state]
