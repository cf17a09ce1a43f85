"""Small tokenizers of all kinds that LIE Cluster reads, trained on a few sentences."""
import json

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

QWEN_PATTERN = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
                r"|\s+(?!\S)|\s+")
LLAMA_PATTERN = QWEN_PATTERN.replace(r"\p{N}|", r"\p{N}{1,3}|")
# the pattern of GPT-4o, which distinguishes upper from lower case and marks from letters
CASE_PATTERN = (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
                r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")

SENTENCES = [
    "The quick brown fox jumps over the lazy dog, doesn't it? I've seen it's tail; they'll say we're wrong.",
    "Let $x^2 + y^2 = \\frac{4}{5}$ and $\\angle A < 90^\\circ$; then \\boxed{12345} is the answer.\n\n",
    "def main(argv: list[str]) -> int:\n    return sum(int(a) for a in argv[1:])  # 0x7f\n\tif (a != b) { c += 10; }\r\n",
    "Größe, naïve café, Zürich; cœur brisé à l'été. Łódź, Čeština, Ελληνικά και Русский язык, 中文字符和日本語の文章。",
    "مرحبا بالعالم، שלום עולם, नमस्ते दुनिया, สวัสดีชาวโลก, 안녕하세요 세계 😀🎉👩‍👩‍👧",
] * 20


def trained(pre_tokenizer, normalizer=None, vocab_size=420, ignore_merges=False):
    tokenizer = Tokenizer(models.BPE(ignore_merges=ignore_merges))
    tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer.train_from_iterator(SENTENCES, trainers.BpeTrainer(vocab_size=vocab_size, initial_alphabet=alphabet,
                                                                 show_progress=False))
    return tokenizer


def split(pattern, behavior="isolated", invert=False):
    return pre_tokenizers.Split(Regex(pattern), behavior, invert)


def byte_level(use_regex, add_prefix_space=False):
    return pre_tokenizers.ByteLevel(add_prefix_space=add_prefix_space, use_regex=use_regex)


def bos(tokenizer, token):
    return processors.Sequence([processors.ByteLevel(), processors.TemplateProcessing(
        single=f"{token} $A", pair=f"{token} $A {token} $B", special_tokens=[(token, tokenizer.token_to_id(token))])])


def with_unknown(fuse):
    """Returns a tokenizer whose vocabulary lacks some bytes, like SmolLM2's. These become the unknown token. The decoder
    is the one that transformers writes for models converted from GGUF."""
    tokenizer = Tokenizer(models.BPE(unk_token="<|endoftext|>", fuse_unk=fuse, byte_fallback=True))
    tokenizer.pre_tokenizer = byte_level(True)
    tokenizer.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Fuse(), decoders.Replace("\u2581", " "),
                                           decoders.ByteLevel()])
    absent = {"\u0100", "\u0101", "\u0104", "\u00f1", "\u00ff", "\u0139", "\u00d9", "\u00b2"}
    alphabet = sorted(set(pre_tokenizers.ByteLevel.alphabet()) - absent)
    tokenizer.train_from_iterator(SENTENCES[:3], trainers.BpeTrainer(
        vocab_size=300, initial_alphabet=alphabet, special_tokens=["<|endoftext|>", "<|im_start|>"], show_progress=False))
    return tokenizer


def kinds():
    """Returns all tokenizers by name."""
    made = {}
    qwen = trained(pre_tokenizers.Sequence([split(QWEN_PATTERN), byte_level(False)]), normalizers.NFC())
    qwen.add_special_tokens(["<|endoftext|>", "<|im_start|>", "<|im_end|>"])
    qwen.add_tokens([AddedToken("<think>", normalized=False), AddedToken("</think>", normalized=False)])
    made["qwen"] = qwen

    llama = trained(pre_tokenizers.Sequence([split(LLAMA_PATTERN), byte_level(False)]), ignore_merges=True)
    # with ignore_merges, a word may be a token that no merges produce
    spec = json.loads(llama.to_str())
    for word in ("Ġunmergeable", "zzzz", "Ġ中文中文"):
        spec["model"]["vocab"][word] = len(spec["model"]["vocab"])
    llama = Tokenizer.from_str(json.dumps(spec))
    llama.add_special_tokens(["<|begin_of_text|>", "<|eot_id|>"])
    llama.post_processor = bos(llama, "<|begin_of_text|>")
    made["llama"] = llama

    smol = trained(pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), byte_level(True)]))
    smol.add_special_tokens(["<|endoftext|>", "<|im_start|>", "<repo_name>"])
    made["smollm2"] = smol

    gpt2 = trained(byte_level(True, add_prefix_space=True))
    gpt2.add_special_tokens(["<|endoftext|>"])
    made["gpt2_prefix_space"] = gpt2

    made["unknown"] = with_unknown(fuse=True)
    made["unknown_each"] = with_unknown(fuse=False)

    flags = trained(pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=False), byte_level(True, True)]),
                    normalizers.NFC())
    flags.add_special_tokens([AddedToken("<s>", lstrip=True, normalized=False), AddedToken("</s>", rstrip=True),
                              AddedToken("[both]", lstrip=True, rstrip=True, normalized=False)])
    flags.add_tokens([AddedToken("word", single_word=True, normalized=False), AddedToken("e\u0301t", normalized=True),
                      AddedToken("\u212b", normalized=True), AddedToken("worder", normalized=False), AddedToken("12"),
                      AddedToken("123", normalized=False), AddedToken(" spaced ", normalized=False),
                      AddedToken("the", single_word=True)])
    made["flags"] = flags

    case = trained(pre_tokenizers.Sequence([split(CASE_PATTERN), byte_level(False)]))
    made["case"] = case

    removed = trained(pre_tokenizers.Sequence([split(r"\s+", "removed"), split(r"\p{N}+", "removed", True),
                                               byte_level(False)]), vocab_size=280)
    made["removed"] = removed

    empty = trained(pre_tokenizers.Sequence([split("x*"), byte_level(False)]), vocab_size=280)
    made["empty_matches"] = empty
    return made
