"""What came out of the rows and seeds of scripts/study.sh, as tables.

Files in dependency order: rows, results, results_file, load, report, prompts, tokens, starts, page, __main__.
"""
