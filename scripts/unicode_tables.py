"""Writes src/text/unicode_tables.cpp from Python's own Unicode data: unicode_tables.py FILE"""

import sys
import unicodedata

CHARACTERS = [chr(c) for c in range(0x110000) if not 0xD800 <= c <= 0xDFFF]
HANGUL = range(0xAC00, 0xD7A4)  # decomposed by a formula


def classes(c):
    """The bits of CharClass in src/text/unicode.hpp."""
    category = unicodedata.category(c)
    cased = (c + "Σ").lower()[-1] == "ς"
    ignored = not cased and ("a" + c + "Σ").lower()[-1] == "ς"
    blank = c in "\t\n\r" or category[0] == "Z"
    punctuation = category[0] == "P" or (c.isascii() and c.isprintable() and not c.isalnum() and c != " ")
    bits = (category[0] == "C" and not blank or c == "\uFFFD", blank, punctuation, category == "Mn", cased, ignored)
    return sum(1 << i for i, bit in enumerate(bits) if bit)


def boundaries():
    """Where the classes change: the first code point times 256 and the classes from there on."""
    last = None
    for c in CHARACTERS:
        if classes(c) != last:
            last = classes(c)
            yield f"0x{ord(c):x}{last:02x}"


def lower_runs():
    """Runs of capitals, every one or every other code point, with the same distance to their small letters."""
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
    return ("{0x%x, 0x%x, %d, %d}" % (first, last, max(step, 1), distance) for first, last, step, distance in runs)


def decompositions():
    """Canonical decompositions without their nonspacing marks."""
    for c in CHARACTERS:
        if ord(c) in HANGUL or unicodedata.category(c) == "Mn":
            continue
        plain = [p for p in unicodedata.normalize("NFD", c) if unicodedata.category(p) != "Mn"]
        if plain != [c]:
            yield "{0x%x, {%s}}" % (ord(c), ", ".join(f"0x{ord(p):x}" for p in plain))


def array(out, declaration, items):
    print(f"{declaration} = {{", file=out)
    line = ""
    for item in items:
        if len(line) + len(item) > 97:
            print(line, file=out)
            line = ""
        line += ("" if line else "    ") + item + ","
    print(line + "\n};\n", file=out)


with open(sys.argv[1], "w", encoding="ascii") as file:
    print(f"// Made by scripts/unicode_tables.py from Unicode {unicodedata.unidata_version}.\n"
          '#include "text/unicode_tables.hpp"\n\n// clang-format off\nnamespace saltus {\n', file=file)
    array(file, "static constexpr std::uint32_t kBoundaries[]", boundaries())
    array(file, "static constexpr LowerRun kLowerRuns[]", lower_runs())
    array(file, "static constexpr Decomposition kDecompositions[]", decompositions())
    print("const std::span<const std::uint32_t> class_boundaries = kBoundaries;\n"
          "const std::span<const LowerRun> lower_runs = kLowerRuns;\n"
          "const std::span<const Decomposition> decompositions = kDecompositions;\n\n"
          "}  // namespace saltus", file=file)
