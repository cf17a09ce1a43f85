"""Writes oniguruma.json: how the tokenizers library splits texts by patterns that PCRE2 reads otherwise, or could.

usage: make_oniguruma.py > oniguruma.json        (needs tokenizers)
"""
import json

from tokenizers import Regex, pre_tokenizers

CASES = {
    r"\p{N}{1,3}+|[^\p{N}]+": ["12345", "1234", "a1b22", "\u0661\u0662\u0663\u0664"],
    r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]+[\r\n]*": ["a 12345", "x1234567 y"],
    r"a{2}?": ["aaaaa"],
    r"(?:ab){2}?c": ["ababc"],
    r"a{2}??": ["aaa"],
    r"a{1,2}?": ["aaa"],
    r"a{2,3}+?": ["aaaaaaa"],
    r"a{1,3}++a": ["aaaa"],
    r"(?:ab){1,2}+c": ["ababababc"],
    r"(a+){1,2}+b": ["aaaab"],
    r"[ab]{2,}+b": ["abab"],
    r"\p{L}{,2}1": ["abc1", "1"],
    r"a{1,2}{2}": ["aaaaa"],
    r"a++a": ["aaa"],
    r"a{,}": ["a{,}"],
    r"x{a}": ["x{a}"],
    r"a{1, 3}": ["aaa", "a{1, 3}"],
    r"^a": ["a\na"],
    r"a$": ["a\na"],
    r"\s++$|\s": ["a  \n b "],
    r".+": ["a\nb"],
    r"(?m:.+)": ["a\nb"],
    r"(?im:a.)": ["A\n"],
    r"a(?i)b|c": ["aB", "aC", "C", "c"],
    r"(?i)'s|'t": ["x'S'T"],
    r"(?:a(?i)b)c": ["aBC", "aBc"],
    r"\h+": ["12fg \t"],
    r"[\h]+": ["f "],
    r"\H+": ["12g"],
    r"\v": ["\x0b\n"],
    r"[]a]+": ["]ab"],
    r"[[:alpha:]]+": ["a\u00e91"],
    r"[[:upper:]]+": ["\u00c9\u00e9A"],
    r"(?#a comment)a": ["ab"],
    r"(?<name>a)\k<name>": ["aab"],
    r"(?<!a)b(?=c)": ["ab bc"],
    r"(?>a+)a": ["aaa"],
    r"\x{41}+": ["AAB"],
    r"\p{^L}+": ["a1"],
    r"[\u4e00-\u9fff]{1,2}+": ["\u4e2d\u6587\u4e2d"],
}


def pieces(pattern, text):
    split = pre_tokenizers.Split(Regex(pattern), "isolated")
    return [piece for piece, _ in split.pre_tokenize_str(text)]


rows = [{"pattern": p, "text": t, "pieces": pieces(p, t)} for p, texts in CASES.items() for t in texts]
print("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]")
