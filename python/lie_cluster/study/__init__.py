"""Tables of the results of scripts/study.sh, by row and seed.

Files in dependency order: rows, results, results_file, load, report, prompts, tokens, starts, tables, budgets,
sources, page, __main__.
"""
