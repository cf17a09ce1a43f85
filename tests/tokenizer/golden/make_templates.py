#!/usr/bin/env python3
"""Writes templates.json: conversations rendered by transformers' apply_chat_template.

    make_templates.py SHARED_DATA [SMOLLM2_DIRECTORY]      (needs transformers; the file is in the repository)

The chat templates are those of the real Qwen3 and Llama 3 tokenizers under SHARED_DATA/tokenizers, SmolLM2-Instruct's
(from the directory, or else from the existing templates.json) and plain ChatML. For each of them the file holds its text
`jinja` and the prompt of each conversation. If a conversation ends with an assistant's turn, `prompt` is the text before
that turn, and `whole` the text of the conversation.
"""
import json
import os
import sys

from transformers import AutoTokenizer

HERE = os.path.dirname(os.path.abspath(__file__))
CHATML = ("{% for message in messages %}{{'<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + "
          "'\\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}")


def user(text):
    return {"role": "user", "content": text}


def assistant(text):
    return {"role": "assistant", "content": text}


SYSTEM = {"role": "system", "content": "Be brief.\n"}
CONVERSATIONS = [
    [user("What is 1 + 1?\n {braces} ")],
    [SYSTEM, user("\u4e2d\u6587 \\boxed{}")],
    [user("a"), assistant("b"), user("c")],
    [SYSTEM, user("a"), assistant("<think>\nhm\n</think>\n\nb"), user(" c\n")],
    [user("a"), assistant("two\n")],
    [user("a"), assistant("<think>\n\nfirst\nsecond\n</think>\n\n\nthe answer")],
    [SYSTEM, user("a"), assistant("b"), user("c"), assistant("\n\nd")],
]


def render(tokenizer, template, messages, **options):
    return tokenizer.apply_chat_template(messages, chat_template=template, tokenize=False, **options)


def cases(tokenizer, template, system=None, **options):
    """`system` is the message that is added to conversations without a system message."""
    rows = []
    for conversation in CONVERSATIONS:
        given = system and conversation[0]["role"] != "system"
        messages = [{"role": "system", "content": system}] * bool(given) + conversation
        ends = messages[-1]["role"] == "assistant"
        asked = messages[:-1] if ends else messages
        row = {"messages": conversation, "prompt": render(tokenizer, template, asked, add_generation_prompt=True, **options)}
        if ends:
            row["whole"] = render(tokenizer, template, messages, **options)
        rows.append(row)
    return rows


def main(shared, smollm2=None):
    path = os.path.join(HERE, "templates.json")
    qwen3 = AutoTokenizer.from_pretrained(os.path.join(shared, "tokenizers", "qwen3"))
    llama3 = AutoTokenizer.from_pretrained(os.path.join(shared, "tokenizers", "llama3"))
    if smollm2:
        smollm2_text = open(os.path.join(smollm2, "chat_template.jinja")).read()
    else:
        smollm2_text = json.load(open(path))["smollm2"]["jinja"]
    golden = {
        "qwen3": {"jinja": qwen3.chat_template, "cases": cases(qwen3, None)},
        "qwen3-no-thinking": {"cases": cases(qwen3, None, enable_thinking=False)},
        "llama3": {"jinja": llama3.chat_template, "cases": cases(llama3, None)},
        "smollm2": {"jinja": smollm2_text, "cases": cases(qwen3, smollm2_text)},
        "chatml": {"jinja": CHATML, "cases": cases(qwen3, CHATML)},
        "qwen2.5": {"cases": cases(qwen3, CHATML, system="You are Qwen, created by Alibaba Cloud. You are a helpful assistant.")},
        "qwen2.5-math": {"cases": cases(qwen3, CHATML, system="Please reason step by step, and put your final answer within "
                                                              "\\boxed{}.")},
    }
    with open(path, "w") as out:
        json.dump(golden, out, indent=1)


if __name__ == "__main__":
    main(*sys.argv[1:])
