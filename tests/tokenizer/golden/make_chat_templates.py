#!/usr/bin/env python3
"""Writes chat_templates.json: conversations that transformers' apply_chat_template renders with the chat templates of
published models.

    make_chat_templates.py .deps/jinja-VERSION/models/templates [NAME.jinja ...]     (needs transformers)

The templates come with llama.cpp (MIT; each by the authors of its model), which scripts/setup.sh unpacks. The script
renders the given templates, or else those named below. Each conversation gives one row per template: `plain` is the text
without generation prompt, and `asked` the text with it. If the generation prompt is only appended, `appended` replaces
`asked`. A text is null if the template rejects the conversation. bos_token and eos_token are <|bos|> and <|eos|>, and the
clock is fixed at 26 July 2024, as in model/tokenizer/template/jinja.h.
"""
import datetime
import json
import os
import sys

import jinja2
from transformers import AutoTokenizer
from transformers.utils import chat_template_utils

HERE = os.path.dirname(os.path.abspath(__file__))
NAMES = """
Apertus-8B-Instruct Bielik-11B-v3.0-Instruct ByteDance-Seed-OSS CohereForAI-c4ai-command-r-plus-tool_use GLM-4.6 Kimi-K2-Instruct
LFM2-8B-A1B MiMo-VL MiniMax-M1 MiniMax-M2 NVIDIA-Nemotron-Nano-v2 Qwen-QwQ-32B Qwen-Qwen2.5-7B-Instruct Qwen-Qwen3-0.6B Qwen3-Coder
Qwen3.5-4B Reka-Edge deepseek-ai-DeepSeek-R1-Distill-Qwen-32B deepseek-ai-DeepSeek-V3.1 google-gemma-2-2b-it google-gemma-4-31B-it
ibm-granite-granite-3.3-2B-Instruct ibm-granite-granite-4.0 llama-cpp-rwkv-world meetkai-functionary-medium-v3.1
meta-llama-Llama-3.1-8B-Instruct meta-llama-Llama-3.3-70B-Instruct microsoft-Phi-3.5-mini-instruct
mistralai-Ministral-3-14B-Reasoning-2512 mistralai-Mistral-Nemo-Instruct-2407 openai-gpt-oss-120b
""".split()


def message(role, content):
    return {"role": role, "content": content}


CONVERSATIONS = [
    [message("user", "What is 1 + 1?")],
    [message("system", "Be brief."), message("user", "Hello")],
    [message("user", "a"), message("assistant", "b"), message("user", "c")],
    [message("system", "S"), message("user", "a"), message("assistant", "<think>\nhm\n</think>\n\nb"), message("user", "c")],
    [message("user", "a"), message("assistant", "b")],
    [message("user", " \u00c4pfel & \"B\u00e4ume\"\n\n\t{{ x }} {% y %} {# z #} <|im_end|> \\n \u4e2d\u6587 \U0001f600 ")],
    [message("user", "")],
    [message("system", ""), message("user", "it's <b>\n"), message("assistant", ""), message("user", "x" * 40)],
]


class Clock(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return cls(2024, 7, 26, 12, 0, 0)


def render(tokenizer, template, messages, asked):
    try:
        return tokenizer.apply_chat_template(messages, chat_template=template, tokenize=False, add_generation_prompt=asked)
    except (jinja2.exceptions.TemplateError, TypeError, AttributeError) as error:
        print(f"   refused: {error}", file=sys.stderr)
        return None


def row(tokenizer, template, messages):
    plain = render(tokenizer, template, messages, False)
    asked = render(tokenizer, template, messages, True)
    appends = plain is not None and asked is not None and asked.startswith(plain)
    return {"plain": plain, "appended" if appends else "asked": asked[len(plain):] if appends else asked}


def main(folder, *names):
    chat_template_utils.datetime = Clock
    tokenizer = AutoTokenizer.from_pretrained(os.path.join(HERE, "qwen"), bos_token="<|bos|>", eos_token="<|eos|>")
    golden = {"conversations": CONVERSATIONS, "templates": {}}
    for name in names or [f"{name}.jinja" for name in NAMES]:
        print(name, file=sys.stderr)
        template = open(os.path.join(folder, name), encoding="utf-8").read()
        golden["templates"][name] = [row(tokenizer, template, messages) for messages in CONVERSATIONS]
    with open(os.path.join(HERE, "chat_templates.json"), "w", encoding="utf-8") as out:
        json.dump(golden, out, indent=0, ensure_ascii=False)
        out.write("\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
