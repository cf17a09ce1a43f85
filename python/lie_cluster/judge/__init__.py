"""What responses do: counts of four behaviors and the shape of the reasoning, by a language model or by wording.

Files in dependency order: measures, phrases, sampled_responses, summary, answer_cache, endpoint, questions, __main__.
"""
