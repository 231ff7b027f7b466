"""Pieces of text that may take part in an event: dates, money, numbers, people, organisations."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

_DIGITS = r"(?<!\d)(?:\d{1,3}(?:[,，]\d{3})+|\d++)(?:\.\d+)?"
_MONTHS = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?"
    r"|Sep(?:t(?:ember)?)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)\.?"
)
_SCALE = r"(?:\s?(?:thousand|million|billion|trillion|bn|mn|m|k))?"
_CURRENCY = r"(?:US\$|HK\$|[$€£¥￥]|USD\s?|EUR\s?|GBP\s?|RMB\s?|CNY\s?)"
_ORG_END = (
    r"(?:股份有限公司|有限责任公司|有限公司|合伙企业|控股集团|集团公司|交易所|委员会|证监局|监管局|证监会|银监会"
    r"|公司|集团|银行|证券|股份|控股|基金|资本|法院|信托|保险|科技|能源|医药|药业|地产|传媒)"
)
_ENGLISH_END = (
    r"(?:Inc|Ltd|LLC|Corp|Corporation|Company|Co|Group|Holdings?|Bank|Plc|PLC|GmbH|AG|SA|Partners"
    r"|Capital|Fund|Securities|Commission|Authority|Agency|Court|Ministry|University)\b"
    r"(?:(?<=Inc)\.|(?<=Ltd)\.|(?<=Corp)\.|(?<=Co)\.)?"
)
_NAME = r"[A-Z][A-Za-z0-9&'’\-]*(?:\.[A-Z]\.)?"
_NOT_NAMES = (
    r"(?!(?:The|A|An|On|In|At|By|It|He|She|They|We|This|That|These|Nothing|No|But|And|When|After"
    r"|Before|Yesterday|Today|Last|Its|His|Her|Their|For|From|To|Of|As|If|Our|Monday|Tuesday"
    r"|Wednesday|Thursday|Friday|Saturday|Sunday)\b)"
)
_STOPS = "将由向被对给从自与和及或的在于为以至因其该此并已拟约共即而但则是等据称经把获受让"

PATTERNS: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "date",
        re.compile(
            r"(?:\d{4}|二[〇零O]\S{2})年(?:\d{1,2}月(?:\d{1,2}[日号])?)?|\d{1,2}月\d{1,2}[日号]"
            r"|\b\d{4}[-/.]\d{1,2}[-/.]\d{1,2}\b"
            rf"|\b\d{{1,2}}(?:st|nd|rd|th)?\s{_MONTHS}(?:,?\s\d{{4}})?"
            rf"|\b{_MONTHS}\s\d{{1,2}}(?:st|nd|rd|th)?(?!\d)(?:,?\s\d{{4}})?|\b{_MONTHS}\s\d{{4}}"
            r"|(?<=\bin\s)(?:19|20)\d{2}\b|[上下]半年|(?:第?[一二三四1-4]|前三)季度"
            r"|\b(?:yesterday|today|tomorrow)\b|昨日|今日|昨天|今天|近日"
            r"|\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day\b"
        ),
    ),
    (
        "percent",
        re.compile(
            rf"{_DIGITS}\s?(?:%|％|percent\b|per\scent\b)|百分之[\d一二三四五六七八九十点]+"
        ),
    ),
    (
        "money",
        re.compile(
            rf"{_CURRENCY}{_DIGITS}{_SCALE}\b|{_DIGITS}\s?(?:[十百千万亿]+)?(?:多|余)?"
            r"(?:元人民币|人民币|美元|港元|港币|欧元|日元|元)(?:[/每]股)?"
            rf"|{_DIGITS}{_SCALE}\s(?:dollars|euros|pounds|yuan)\b"
        ),
    ),
    (
        "number",
        re.compile(
            rf"{_DIGITS}\s?(?:[十百千万亿]+)?(?:多|余)?(?:股|份|人|名|次|家|套|吨)"
            rf"|\b{_DIGITS}{_SCALE}\s(?:shares|people|units|employees|tons|tonnes)\b"
        ),
    ),
    (
        "round",
        re.compile(r"(?:Pre-)?[A-F]\+{0,2}轮|天使轮|种子轮|\bSeries\s[A-F]\b|\bseed round\b"),
    ),
)
_ENGLISH_ORG = re.compile(
    rf"\b{_NOT_NAMES}{_NAME}(?:\s(?:of|&|and)?\s?{_NAME}){{0,5}}?\s{_ENGLISH_END}"
)
_ENGLISH_NAME = re.compile(
    rf"\b(?:(?P<title>(?:Mr|Ms|Mrs|Dr)\.)\s)?(?P<name>{_NOT_NAMES}{_NAME}(?:\s{_NOT_NAMES}{_NAME}){{0,3}})"
)
_PLACE = re.compile(
    rf"\b(?:in|at|near)\s(?P<name>{_NAME}(?:\s{_NAME}){{0,2}})"
    r"|在(?P<zh>[\u4e00-\u9fff]{2,6}[省市县区州])"
)


@dataclass(frozen=True, slots=True)
class Mention:
    kind: str
    start: int
    end: int


@cache
def lexicon() -> dict[str, Any]:
    path = Path(__file__).parent / "lexicon.yaml"
    words: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return words


def mentions(text: str) -> list[Mention]:
    """Everything in a sentence that may be an argument, in order; no two of them overlap."""
    apart: list[Mention] = []
    for mention in _candidates(text):
        if mention.end > mention.start and not any(_overlap(mention, other) for other in apart):
            apart.append(mention)
    return sorted(apart, key=lambda mention: mention.start)


def _candidates(text: str) -> Iterator[Mention]:
    for kind, pattern in PATTERNS:
        yield from (Mention(kind, *hit.span()) for hit in pattern.finditer(text))
    yield from _positions(text)
    yield from _chinese_organisations(text)
    yield from (Mention("party", *hit.span()) for hit in _ENGLISH_ORG.finditer(text))
    for hit in _PLACE.finditer(text):
        yield Mention("place", *hit.span("name" if hit["name"] else "zh"))
    yield from _chinese_people(text)
    for hit in _ENGLISH_NAME.finditer(text):
        person = hit["title"] or len(hit["name"].split()) == 2
        yield Mention("person" if person else "party", *hit.span("name"))


def _positions(text: str) -> Iterator[Mention]:
    words = sorted(lexicon()["positions"], key=len, reverse=True)
    for hit in re.finditer("|".join(map(re.escape, words)), text, re.IGNORECASE):
        yield Mention("position", *hit.span())


def _chinese_organisations(text: str) -> Iterator[Mention]:
    """Text that ends like an organisation, from after the last word that can't be part of it."""
    for hit in re.finditer(f"{_ORG_END}+", text):
        start = hit.start()
        while start > 0 and _part_of_name(text[start - 1]) and hit.start() - start < 16:
            start -= 1
        start += text[start] == "了"
        if hit.start() - start >= 2:
            yield Mention("party", start, hit.end())


def _part_of_name(letter: str) -> bool:
    return letter not in _STOPS and (letter.isalpha() or letter in "（）()·&-")


def _chinese_people(text: str) -> Iterator[Mention]:
    """A surname and one or two characters, between words that usually surround people's names."""
    names = rf"[{lexicon()['surnames']}][\u4e00-\u9fff]{{1,2}}?"
    positions = (word for word in lexicon()["positions"] if word[0] >= "\u4e00")
    titles = "|".join(map(re.escape, positions))
    around = (
        rf"(?:^|(?<=[，。；：、\s“”（）向由被对给让任命]))(?P<a>{names})"
        r"(?=先生|女士|向|将|于|因|已|拟|为|辞|质押|减持|增持|收购|持有|及|和|、|担任|出任|，|。|$)"
        rf"|(?:{titles}|股东|控制人)(?P<b>{names})(?=先生|女士|向|将|于|因|已|拟|辞|质押|减持|增持|的|，|。|$)"
    )
    for hit in re.finditer(around, text):
        yield Mention("person", *hit.span("a" if hit["a"] else "b"))


def _overlap(a: Mention, b: Mention) -> bool:
    return a.start < b.end and b.start < a.end
