#!/usr/bin/env python3
"""Measures the RL step of rl_step_bench.cpp in TRL's GRPOTrainer, with the same weights, prompts and limits.

Prints one line "trl seconds_per_step S tokens_per_step N".
"""
import os
import tempfile
import time

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

import peer

PROMPTS, SAMPLES, PROMPT_TOKENS, RESPONSE_TOKENS = 16, 8, 16, 256


def word_tokenizer(vocabulary):
    """Returns a tokenizer in which token i is the word "t<i>". Id 0 is padding, id 1 ends a sequence."""
    tokenizers, transformers = peer.package("tokenizers"), peer.package("transformers")
    words = {f"t{i}": i for i in range(vocabulary)}
    inner = tokenizers.Tokenizer(tokenizers.models.WordLevel(words, unk_token="t0"))
    inner.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    return transformers.PreTrainedTokenizerFast(tokenizer_object=inner, pad_token="t0", eos_token="t1")


def prompt(row):
    return " ".join(f"t{2 + (row * 37 + i * 11) % 500}" for i in range(PROMPT_TOKENS))


def reward(completion_ids, **_):
    return [float(ids[0] % 2) for ids in completion_ids]


class StepTimes:
    """Becomes a TrainerCallback when main() adds that base class."""

    def __init__(self):
        self.begun, self.seconds, self.tokens = 0.0, [], []

    def on_step_begin(self, args, state, control, **kwargs):
        self.begun = time.perf_counter()

    def on_step_end(self, args, state, control, **kwargs):
        self.seconds.append(time.perf_counter() - self.begun)

    def on_log(self, args, state, control, logs=None, **kwargs):
        if logs and "completions/mean_length" in logs:
            self.tokens.append(logs["completions/mean_length"] * PROMPTS * SAMPLES)


def main():
    parser = peer.arguments(__doc__)
    parser.add_argument("model", type=peer.existing, help="model directory that rl_step_bench --write-model leaves")
    parser.add_argument("steps", type=peer.positive, nargs="?", default=3)
    parser.add_argument("batch", type=peer.positive, nargs="?", default=32, help="sequences of one forward pass; all 128 at once take longer")
    parser.add_argument("--products", choices=["float32", "bfloat16"], default="float32", help="bfloat16: autocast to it")
    args = parser.parse_args()
    model_dir, steps, batch = args.model, args.steps, args.batch
    torch, transformers, datasets, trl = map(peer.package, ("torch", "transformers", "datasets", "trl"))
    torch.set_num_threads(int(os.environ.get("LIE_BENCH_THREADS", os.cpu_count())))
    transformers.utils.logging.set_verbosity_error()
    model = transformers.AutoModelForCausalLM.from_pretrained(model_dir, dtype=torch.float32)
    accumulation = PROMPTS * SAMPLES // batch
    with tempfile.TemporaryDirectory() as out:
        config = trl.GRPOConfig(
            output_dir=out, use_cpu=True, bf16=args.products == "bfloat16", fp16=False, max_steps=steps + 1,
            per_device_train_batch_size=batch, gradient_accumulation_steps=accumulation,
            steps_per_generation=accumulation, num_generations=SAMPLES, num_iterations=1,
            max_completion_length=RESPONSE_TOKENS, temperature=1.0, beta=0.0, learning_rate=1e-6,
            gradient_checkpointing=False, loss_type="grpo", logging_steps=1, save_strategy="no",
            report_to=[], disable_tqdm=True, dataloader_num_workers=0)
        times = type("Times", (StepTimes, transformers.TrainerCallback), {})()
        trainer = trl.GRPOTrainer(
            model=model, reward_funcs=reward, args=config, processing_class=word_tokenizer(model.config.vocab_size),
            train_dataset=datasets.Dataset.from_dict({"prompt": [prompt(i) for i in range(PROMPTS)] * (steps + 1)}),
            callbacks=[times])
        trainer.train()
    seconds, tokens = times.seconds[1:], times.tokens[1:]  # the first step warms up
    print(f"trl seconds_per_step {sum(seconds) / len(seconds):.3f} tokens_per_step {sum(tokens) / len(tokens):.0f} "
          f"best {min(seconds):.3f} threads {torch.get_num_threads()}")


if __name__ == "__main__":
    main()
