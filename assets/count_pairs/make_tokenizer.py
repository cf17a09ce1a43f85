#!/usr/bin/env python3
"""Writes model/tokenizer.json and model/tokenizer_config.json of the embedded task "count pairs".

    make_tokenizer.py      (Python 3, standard library only; the result is in the repository)

A byte-level BPE without merges: ids 0 to 255 are the bytes, so any text encodes and decodes unchanged. Added tokens, matched
leftmost-longest before the bytes, give each element of the task one token:

    prompt    7 1 20 10 17 4 target 11:\\n     numbers, the spaces between them, ' target ', number, ':\\n'
    header    in order:\\n  |  at random:\\n
    a try     7+4=11 yes 1\\n                  six tokens: number + number = number flag
    answer    \\boxed{1}<|endoftext|>          four tokens

The digits, '+', '=', '}' and the space are bytes and so have a token already. 299 tokens in all; the model's embedding has
320 rows, the next multiple of 32.
"""
import json
import os

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "model")
END = "<|endoftext|>"
LARGEST_NUMBER = 39
LARGEST_COUNT = 6


def byte_characters():
    """The printable character that stands for each byte in a byte-level vocabulary (GPT-2's table)."""
    printable = {*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)}
    characters, next_free = [], 256
    for byte in range(256):
        if byte in printable:
            characters.append(chr(byte))
        else:
            characters.append(chr(next_free))
            next_free += 1
    return characters


def added_contents():
    numbers = [str(n) for n in range(10, LARGEST_NUMBER + 1)]
    flags = [" no\n"] + [f" yes {count}\n" for count in range(1, LARGEST_COUNT + 1)]
    return [END] + numbers + [" target ", ":\n", "in order:\n", "at random:\n"] + flags + ["\\boxed{"]


def added_token(token_id, content):
    return {"id": token_id, "content": content, "single_word": False, "lstrip": False, "rstrip": False,
            "normalized": False, "special": content == END}


def tokenizer():
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": False}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [added_token(256 + i, content) for i, content in enumerate(added_contents())],
        "normalizer": None,
        "pre_tokenizer": byte_level,
        "post_processor": None,
        "decoder": byte_level,
        "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
                  "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False, "ignore_merges": False,
                  "vocab": {character: byte for byte, character in enumerate(byte_characters())}, "merges": []},
    }


def tokenizer_config():
    return {"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": None, "eos_token": END, "pad_token": END,
            "unk_token": None, "add_bos_token": False, "add_prefix_space": False, "clean_up_tokenization_spaces": False,
            "model_max_length": 256}


def write(name, value):
    with open(os.path.join(HERE, name), "w", encoding="utf-8") as file:
        json.dump(value, file, ensure_ascii=False, indent=1)
        file.write("\n")


if __name__ == "__main__":
    os.makedirs(HERE, exist_ok=True)
    write("tokenizer.json", tokenizer())
    write("tokenizer_config.json", tokenizer_config())
