r"""What is a number in a text, and what only has digits: one expression, read from left to right.

The first alternative that fits at a place wins, so the order is from the most telling to the least.
Every repetition is bounded or possessive (`++`), so that no text takes more than linear time.
"""

import re

CURRENCIES = "$¢£¤¥฿₠-⃀＄￠￡￥￦"
PERCENTS = "%٪％"
MARKS = PERCENTS + CURRENCIES
MINUSES = "-−"  # first, so that in a class of characters it is no range
POINTS = ".٫"
GROUPERS = ",٬'’\u00a0\u2009\u202f"
# Letters of names as GPT-7. Chinese or Arabic words stand next to numbers without a space.
LETTERS = r"A-Za-z_À-ÖØ-öø-\u052f"
DAY = r"(?:0?[1-9]|[12]\d|3[01])"
HEX = "[0-9A-Fa-f]"
# After this, digits with dashes or slashes were a calculation.
NO_SUM = r"(?!\d|[-/.]\d|\s*[=+*×÷])"

LINK = r"""
    (?:https?|ftp)://\S++ | www\.\S++
    | [\w.+-]{1,64}+@[\w-]++\.[\w.-]++
"""

LIST = r"""
    ^[^\S\n]*+ (?: \(\d{1,2}\) | \d{1,3}[.)] ) (?=\s++[^\s=+*/×÷−-])
"""

DATE = rf"""
    (?<![\w/.-]) (?:
        [12]\d{{3}} (?P<ymd>[-/.]) (?:0[1-9]|1[0-2]) (?P=ymd) (?:0[1-9]|[12]\d|3[01])
        | {DAY} (?P<dmy>[-/.]) {DAY} (?P=dmy) [12]\d{{3}}
        | 0[1-9] / (?:0[1-9]|[12]\d|3[01]) / \d\d
    ) {NO_SUM}
"""

TIME = r"""
    (?<![\w:]) (?:[01]?\d|2[0-4]):[0-5]\d (?: :[0-5]\d )? (?![\d:])
"""

PHONE = rf"""
    (?<![\w)]) (?<![\d)]\ ) \+ (?=(?:[ ()-]{{0,2}}\d){{7,15}}+(?!\d))
        \d{{1,3}} (?: [ -]\(?\d{{1,4}}\)? ){{2,5}}+
    | \(\d{{3}}\)[ -]?\d{{3}}-\d{{4}} (?!\d)
    | (?<![\w-]) (?:1-)? \d{{3}} (?P<dash>[-.]) \d{{3}} (?P=dash) \d{{4}} {NO_SUM}
    | (?: (?<=[Cc]all\ ) | (?<=[Dd]ial\ ) | (?<=[Pp]hone\ ) | (?<=[Pp]hone:\ ) | (?<=[Tt]el:\ ) )
        \d{{3}}-\d{{4}} {NO_SUM}
"""

NAME = rf"""
    (?<!\w) {HEX}{{8}} (?: -{HEX}{{4}} ){{3}} -{HEX}{{12}}
    | (?<!\d) (?!(?<=\d\ )[xX]\d) [{LETTERS}]++ \d\w*+ (?: [.-]\d\w*+ )*+  # H2O, not 4 x5
    | (?<!\d) [{LETTERS}]{{2,}}+ -\d\w*+ (?: [.-]\d\w*+ )*+ (?!\s*[=+*/×÷])  # GPT-7, not Cost-7=
    | (?<!\d) [A-W] -\d\w*+ (?!\s*[=+*/×÷)])                             # F-16, not (C-1) or X-1
    | (?<![#\w]) \#\d++
    | (?: {HEX}{{1,4}}: ){{1,7}} (?: :{HEX}{{1,4}} ){{1,7}} | (?: {HEX}{{1,4}}: ){{7}} {HEX}{{1,4}}
    | 0[xX] {HEX}++
    | \d++ (?: \.\d++ ){{2,}}+                                           # 1.2.3, 127.0.0.1
    | \d++ (?![xX]\d|[eE][+-]?\d{{1,6}}(?!\w)) [{LETTERS}]++ \d\w*+      # 3f5a, not 4x5 or 1e5
    | \d++ _\w*+
"""

ORDINAL = r"""
    (?<!/) \d++ (?: ,\d{3} )*+ (?:st|[nr]d|th|ST|[NR]D|TH) (?!\w)
"""

OTHER = r"""
    \d++ [¼-¾⅐-⅞]                                                        # 1½ is not 1
"""

# What stands before or after an operand, and seldom before or after one of two numbers in a row.
OPERATED = r"""
    (?<=[+*/×÷=]\ ) | (?<=[+*/×÷]) | (?<=\ [-−]\ ) | (?<=\d\ [xX]\ )
    | (?<=\ plus\ ) | (?<=\ minus\ ) | (?<=\ times\ ) | (?<=\ divided\ by\ )
    | (?<=\ multiplied\ by\ )
"""
OPERATES = r"""
    (?:\.\d++)? (?: \ ?[+*/×÷]\ ?[\d(-] | \ [-−xX]\ \d | \ ?=
        | \ (?:plus|minus|times|divided\ by|multiplied\ by)\ )
"""

# Spaces group digits only where they cannot stand between two numbers.
GROUPS = rf"""
    (?<!\d\ ) (?!0) (?:
        (?=\d{{1,3}}(?:\ \d{{3}})*?\ 0) \d{{1,3}} (?:\ \d{{3}})++          # 5 000
        | \d{{1,2}} (?:\ \d{{3}}){{2,}}+                                   # 1 234 567
        | \d{{1,3}} (?:\ \d{{3}})++ (?=\ ?[€£¥₹])                          # 12 345 €
        | \d{{1,3}} \ \d{{3}} (?={OPERATES})                              # 48 239 times
        | (?:{OPERATED}) \d{{1,3}} \ \d{{3}} (?!\ ?\Z)                     # times 7 764
    ) (?!\ ?\d)
"""

# A minus after a number, a word or a bracket subtracts; "x -5" does, "is -5" and "it's -5" do not,
# nor does it where x multiplies.
VARIABLE = r"(?<!\b[b-zB-HJ-Z]\ ) | (?<=[A-Za-z]['’][dmst]\ ) | (?<=[\d)\]}]\ [xX]\ )"
VALUE = rf"""
    (?: (?<![\w)\]}}{PERCENTS}]) (?<![\d)\]}}{PERCENTS}]\ ) (?:{VARIABLE})
        (?P<minus>[{MINUSES}]) (?P<inner>[{CURRENCIES}]\ ?)?
    )?
    (?:
        (?P<whole>
            (?<!\d[{GROUPERS}]) (?!0) \d{{1,3}} (?P<grouper>[{GROUPERS}]) \d{{3}}
                (?: (?P=grouper)\d{{3}} )*+ (?! (?P=grouper)?\d )
            | {GROUPS}
            | \d++
        ) (?: (?P<point>[{POINTS}]) (?P<decimals>\d++) )?
        | (?<![\w.]) (?P<bare>[{POINTS}]) (?P<tail>\d++)
    )
    (?: (?P<e>[eE]) (?P<exponent>[+-]?\d{{1,6}}) (?!\w) )?
"""

# Most of a text is passed over in one go: plain words, and what no number begins with.
WORD = rf"(?<!\d) [{LETTERS}]++ (?![\w@.+:-])"
BEGINS = rf"(?=[\w+#({POINTS}−-])"

ROLES = {
    "link": LINK,
    "date": DATE,
    "time": TIME,
    "phone": PHONE,
    "name": NAME,
    "ordinal": ORDINAL,
    "other": OTHER,
    "value": VALUE,
}
ROLES_TEXT = "|".join(f"(?P<{role}>{pattern})" for role, pattern in ROLES.items())
SCAN = re.compile(
    rf"{WORD} | (?P<list>{LIST}) | {BEGINS} (?: {ROLES_TEXT} | (?<!\d) [{LETTERS}]++ )",
    re.VERBOSE | re.MULTILINE,
)
RUN = re.compile(r"\d++")
# A mark belongs to the number that it touches, else to the one a space away from it.
BEFORE = re.compile(rf"([{CURRENCIES}])$|(?<!\d)([{CURRENCIES}])[ \u00a0]$")
AFTER = re.compile(rf"([{MARKS}])(?!\.?\d)|[ \u00a0]([{MARKS}])(?![ \u00a0]?\.?\d)")
SPACED = re.compile(GROUPS, re.VERBOSE)
# Read backwards from the end of a text: what may go on being the same number.
TAIL = re.compile(rf"(?:[+-]?[eE](?=\d))?[\d{POINTS}{GROUPERS}]*+")
