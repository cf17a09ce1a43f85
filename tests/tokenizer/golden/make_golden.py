#!/usr/bin/env python3
"""Writes the golden files of tests/tokenizer: small tokenizers of each kind, and the ids of the Hugging Face library.

    make_golden.py SHARED_DATA      (needs tokenizers; the files are in the repository)

<kind>/tokenizer.json are the tokenizers of kinds.py. cases.json holds, for each tokenizer and each text, the ids without
and with special tokens and the decoded text. Texts are UTF-8, or hexadecimal bytes if they are not valid UTF-8. The
tokenizers "qwen3" and "llama3" are the real ones under SHARED_DATA/tokenizers.
"""
import json
import os
import sys

from tokenizers import Tokenizer
import kinds

HERE = os.path.dirname(os.path.abspath(__file__))

TEXTS = kinds.SENTENCES[:5] + [
    "", " ", "  ", "a", "\n", " \n \r\n\t x", "hello world", "  leading and trailing  ", "it's IT'S it\u2019s '\u017f 'LL",
    "1", "12", "1234567 3.14159 \u00b2\u00bd \u0661\u0662\u0663 x1y22z333", "\\boxed{\\frac{3}{4}}", "$$\\sum_{i=1}^{n} i^2$$",
    "e\u0301 \u00e9 e\u0327\u0301 \u212b A\u030a \u1100\u1161\u11a8 \uac01 q\u0307\u0323", "e\u0301t \u00e9t \u212b \u00c5",
    "\u0958 \u0929 \u2126 \ufb01 \uf900", "\u0898\u0301 a\u0898\u0301 \U00010efd\u0301", "\u1c89 \U00016d43 \U0001ccf0",
    "tab\tnbsp\u00a0ideographic\u3000nel\u0085ls\u2028mvs\u180ezwsp\u200b.", "x\x1cy\x1dz\x00\x01\x7f",
    "zzzz unmergeable zzzzz 中文中文 中文中文中", "👩‍👩‍👧🏽 🇩🇪 e\u200d", "a" * 100, "ab" * 40 + " " * 50 + "\n" * 20, "!?" * 30,
    "<|endoftext|>", "a<|im_start|>user\nhi<|im_end|>\n<think>\n\n</think>", "<|begin_of_text|><|eot_id|><repo_name>",
    "<|<|endoftext|>|> <|endoftext", "  <s>  a  </s>  b  [both]  c", "word words sword word. (word) wörd word\u0301 worder",
    "word", "the theme the 12 123 1234 a spaced b spaced", "<s></s> \n <s> [both][both]\t</s>\n", "A\u0301 spaced \u0301",
    "7 1 20 10 17 4 target 11:\n", "in order:\n7+1=8 no\n7+20=27 no\n7+4=11 yes 1\n1+10=11 yes 2\n\\boxed{2}<|endoftext|>",
    "at random:\n39+40=79 no\n yes 7\n yes\n\\boxed{ 1270",
] + [bytes.fromhex(hexadecimal) for hexadecimal in (
    "ff", "61c3", "c3a9c3", "e4b8", "e4b861", "f09f98", "f09f9880f09f98", "eda080", "c0af", "f4908080", "80808061",
    "61ff62fe2063", "e0808061f0808080", "6120e12062e2812063")]

LOOKED_UP = ["<|endoftext|>", "<|begin_of_text|>", "\u0120the", "the", "\u010a", "not a token"]


def entry(text):
    """Returns a text in the form of the file, and in the form that the library receives."""
    if isinstance(text, bytes):
        return {"bytes": text.hex()}, text.decode("utf-8", errors="replace")
    return {"text": text}, text


def cases(tokenizer):
    rows = []
    for text in TEXTS:
        row, given = entry(text)
        ids = tokenizer.encode(given, add_special_tokens=False).ids
        row["ids"] = ids
        row["with_special"] = tokenizer.encode(given).ids
        row["decoded"] = tokenizer.decode(ids, skip_special_tokens=False)
        row["decoded_skip"] = tokenizer.decode(ids)
        rows.append(row)
    largest = max(tokenizer.get_vocab().values())
    every_id = list(range(min(largest, 2000) + 1))
    return {"texts": rows, "vocabulary_size": largest + 1,
            "every_id_decoded": [tokenizer.decode([i], skip_special_tokens=False) for i in every_id],
            "token_to_id": {token: tokenizer.token_to_id(token) for token in LOOKED_UP}}


def main(shared):
    golden = {}
    for name, tokenizer in kinds.kinds().items():
        os.makedirs(os.path.join(HERE, name), exist_ok=True)
        tokenizer.save(os.path.join(HERE, name, "tokenizer.json"), pretty=False)
        golden[name] = cases(tokenizer)
    repository = os.path.join(HERE, "..", "..", "..")
    golden["count_pairs"] = cases(Tokenizer.from_file(os.path.join(repository, "assets/count_pairs/model/tokenizer.json")))
    for name in ("qwen3", "llama3"):
        golden[name] = cases(Tokenizer.from_file(os.path.join(shared, "tokenizers", name, "tokenizer.json")))
    with open(os.path.join(HERE, "cases.json"), "w") as out:
        json.dump(golden, out, separators=(",", ":"))


if __name__ == "__main__":
    main(sys.argv[1])
