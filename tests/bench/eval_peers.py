#!/usr/bin/env python3
"""Measures tokens per second of transformers' generate, or of llama.cpp, on the prompts of an evaluation, to compare with
`lie_cluster eval`.

Each line of SAMPLES is one response to generate again. transformers uses batches with left padding, in fp32 by default.
llama.cpp uses --batch slots with continuous batching and its own cache. Response tokens are counted up to the end token. The
processor time, printed next to the wall time, is also valid on a busy machine.
"""
import os
import time
from concurrent.futures import ThreadPoolExecutor

import peer


def load_transformers(args, tokenizer, prompts):
    """Returns the work to measure: a function that returns the number of response tokens."""
    torch = peer.package("torch")
    torch.set_num_threads(args.threads)
    model = peer.package("transformers").AutoModelForCausalLM.from_pretrained(args.model, dtype=getattr(torch, args.dtype))
    ends = model.generation_config.eos_token_id
    ends = set(ends if isinstance(ends, list) else [ends])
    tokenizer.pad_token_id = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else min(ends)
    torch.manual_seed(1)

    def work():
        tokens = 0
        for at in range(0, len(prompts), args.batch):
            inputs = tokenizer(prompts[at:at + args.batch], return_tensors="pt", padding=True, add_special_tokens=False)
            with torch.inference_mode():
                output = model.generate(**inputs, do_sample=True, temperature=args.temperature, top_p=1.0, top_k=0,
                                        max_new_tokens=args.max_new_tokens, pad_token_id=tokenizer.pad_token_id)
            for row in output[:, inputs["input_ids"].shape[1]:].tolist():
                tokens += next((i + 1 for i, token in enumerate(row) if token in ends), len(row))
        return tokens
    return work


def load_llama_cpp(args, tokenizer, prompts):
    xllamacpp = peer.package("xllamacpp")
    ids = [tokenizer(prompt, add_special_tokens=False)["input_ids"] for prompt in prompts]
    params = xllamacpp.CommonParams()
    params.model.path, params.n_parallel, params.verbosity = args.gguf, args.batch, -1
    params.n_ctx = args.batch * (max(map(len, ids)) + args.max_new_tokens + 8)
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = args.threads
    server = xllamacpp.Server(params)

    def answer(numbered):
        number, prompt = numbered
        answer = server.handle_completions({"prompt": prompt, "n_predict": args.max_new_tokens, "seed": number,
                                            "temperature": args.temperature, "top_k": 0, "top_p": 1.0, "min_p": 0.0})
        return answer["usage"]["completion_tokens"]

    def work():
        with ThreadPoolExecutor(args.batch) as pool:
            return sum(pool.map(answer, enumerate(ids)))
    return work


def main():
    parser = peer.arguments(__doc__)
    parser.add_argument("model", type=peer.existing, help="model directory")
    parser.add_argument("samples", type=peer.existing, help="samples.jsonl of the evaluation")
    parser.add_argument("--gguf", type=peer.existing, help="the same model for llama.cpp (xllamacpp), which is then measured")
    parser.add_argument("--dtype", choices=["float32", "bfloat16"], default="float32", help="dtype of transformers' model")
    parser.add_argument("--batch", type=peer.positive, default=16)
    parser.add_argument("--max-new-tokens", type=peer.positive, default=512)
    parser.add_argument("--temperature", type=float, default=0.6)
    parser.add_argument("--threads", type=peer.positive, default=os.cpu_count())
    parser.add_argument("--responses", type=peer.positive, help="number of lines to use, from the first; default: all")
    args = parser.parse_args()
    prompts = [row["prompt"] for row in peer.rows(args.samples, "prompt")][:args.responses]
    tokenizer = peer.package("transformers").AutoTokenizer.from_pretrained(args.model, padding_side="left")
    work = (load_llama_cpp if args.gguf else load_transformers)(args, tokenizer, prompts)
    clock, processor = time.perf_counter(), time.process_time()
    tokens = work()
    clock, processor = time.perf_counter() - clock, time.process_time() - processor
    print(f"{'llama.cpp' if args.gguf else 'transformers in ' + args.dtype}, {args.threads} threads, batch {args.batch}: {len(prompts)} responses, "
          f"{tokens} tokens in {clock:.1f} s: {tokens / clock:.0f} tokens/s; {processor:.1f} s of processor time: "
          f"{tokens / processor:.0f} tokens/s")


if __name__ == "__main__":
    main()
