"""Counts four behaviors of responses and measures the shape of their reasoning, by a language model or by wording.

Files in dependency order: measures, phrases, sampled_responses, summary, answer_cache, endpoint, questions, __main__.
"""
