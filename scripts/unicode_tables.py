"""Writes src/text/unicode_tables.hpp from Python's own Unicode data: unicode_tables.py FILE"""

import sys
import unicodedata

CHARACTERS = [chr(c) for c in range(0x110000) if not 0xD800 <= c <= 0xDFFF]
HANGUL = range(0xAC00, 0xD7A4)  # decomposed by a formula
CLASSES = [0, 1, 40, 4, 16, 32, 33, 36, 2]  # all that occur, the most frequent first
DIGITS = [chr(c) for c in range(ord("#"), ord("~") + 1) if c != ord("\\")]
LAST = 66  # of the digits end a number, the others go on


def classes(c):
    """The bits of CharClass in src/text/unicode.hpp."""
    category = unicodedata.category(c)
    cased = (c + "Σ").lower()[-1] == "ς"
    ignored = not cased and ("a" + c + "Σ").lower()[-1] == "ς"
    blank = c in "\t\n\r" or category[0] == "Z"
    punctuation = category[0] == "P" or (c.isascii() and c.isprintable() and not c.isalnum() and c != " ")
    bits = (category[0] == "C" and not blank or c == "\uFFFD", blank, punctuation, category == "Mn", cased, ignored)
    return sum(1 << i for i, bit in enumerate(bits) if bit)


def class_ranges():
    """For each range of characters of one class: its length less 1 times the number of classes, plus the class."""
    starts = [i for i, c in enumerate(CHARACTERS) if i == 0 or classes(c) != classes(CHARACTERS[i - 1])]
    points = [ord(CHARACTERS[i]) for i in starts] + [0x110000]
    for start, end in zip(points, points[1:]):
        yield (end - start - 1) * len(CLASSES) + CLASSES.index(classes(chr(start)))


def signed(number):
    return 2 * number if number >= 0 else -2 * number - 1


def lower_runs():
    """Runs of capitals, every one or every other code point, with the same distance to their small letters: twice the
    distance from the run before plus the step less 1, the number of steps, the distance of the small letters."""
    runs = []
    for c in CHARACTERS:
        small = c.lower()
        if small == c or len(small) > 1:  # U+0130 alone has two
            continue
        distance = ord(small) - ord(c)
        if runs and runs[-1][3] == distance and (step := ord(c) - runs[-1][1]) in (1, 2) and runs[-1][2] in (0, step):
            runs[-1][1:3] = ord(c), step
        else:
            runs.append([ord(c), ord(c), 0, distance])
    before = 0
    for first, last, step, distance in runs:
        step = max(step, 1)
        yield from (2 * (first - before) + step - 1, (last - first) // step, signed(distance))
        before = last


def decompositions():
    """Canonical decompositions without their nonspacing marks, in runs: the distance from the character before, the
    number of characters that follow one another, the first part of each by its distance from the part before. Other
    parts of a character are a run of distance 0."""
    runs, before, part_before = [], 0, 0
    for c in CHARACTERS:
        if ord(c) in HANGUL or unicodedata.category(c) == "Mn":
            continue
        plain = [p for p in unicodedata.normalize("NFD", c) if unicodedata.category(p) != "Mn"]
        if plain != [c]:
            for place, part in enumerate(map(ord, plain)):
                distance = 0 if place else ord(c) - before
                if not runs or distance > 1 or (runs[-1][0] == 0) != (distance == 0):
                    runs.append([distance])
                runs[-1].append(signed(part - part_before))
                part_before = part
            before = ord(c)
    for distance, *parts in runs:
        yield from (distance, len(parts), *parts)


def digits(number):
    """The last digit is one of the first LAST; those before it, in the base of the other digits, are not."""
    text, number = DIGITS[number % LAST], number // LAST
    while number > 0:
        number, digit = divmod(number, len(DIGITS) - LAST)
        text = DIGITS[LAST + digit] + text
    return text


def table(name, numbers):
    text = "".join(map(digits, numbers))
    lines = [f'    "{text[at : at + 94]}"' for at in range(0, len(text), 94)]
    return f"inline constexpr std::string_view {name} =\n" + "\n".join(lines) + ";\n"


with open(sys.argv[1], "w", encoding="ascii") as file:
    print(f"// Made by scripts/unicode_tables.py, which explains it, from Unicode {unicodedata.unidata_version}.\n"
          "#pragma once\n\n#include <cstdint>\n#include <string_view>\n\n// clang-format off\n"
          "namespace saltus::unicode {\n\n"
          f"inline constexpr int kLastDigits = {LAST}, kOtherDigits = {len(DIGITS) - LAST};\n"
          f"inline constexpr std::uint8_t kClasses[] = {{{', '.join(map(str, CLASSES))}}};\n",
          table("kClassRanges", class_ranges()), table("kLowerRuns", lower_runs()),
          table("kDecompositions", decompositions()),
          "}  // namespace saltus::unicode", sep="\n", file=file)
