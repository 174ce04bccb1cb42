"""Texts cut into tokens."""

import numpy as np

from cases import generator

WORDS = ["", " ", "a", "ab", "b c", "\u00e4\u00f6", "\u20acx", "x--y", "1.5", "Ab", "\U0001f600"]


@generator("Tokenizer", 40)
def tokenizer(c):
    shape = c.pick((1,), (5,), (2, 3))
    texts = [c.pick("", " ", ";").join(c.pick(*WORDS) for _ in range(c.pick(0, 1, 4))) for _ in range(np.prod(shape))]
    texts[0] += "q rr sss"  # where no text has a token, ranks are ONNX Runtime's own
    characters, cut = c.pick(0, 0, 1), c.pick(0, 1)
    separators = c.pick([" "], [";", " "], ["-+"], ["[;.]", "\\s"], ["x*"], ["a|ab", "b$"], ["\\b"], ["(?i)B", "x"])
    pattern = c.pick("[a-z]+", "\\w+", "..", "a|ab", "[^ ]*", "\\b\\w\\w+\\b", ".?", "\\p{L}+")
    c.node(
        "Tokenizer",
        [c.input("x", np.array(texts, object).reshape(shape))],
        ["y"],
        mark=c.pick(0, 1),
        pad_value=c.pick("", "#", "\u20ac"),
        mincharnum=1 if characters else c.pick(1, 1, 2),
        separators=[""] if characters else separators if cut else None,
        tokenexp=None if characters or cut else pattern,
    )
    c.output("y")
