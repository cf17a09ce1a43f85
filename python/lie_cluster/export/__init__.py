"""Logged responses as data sets: JSONL or Parquet, in the shapes that TRL and verl read.

Files in dependency order: row_file, batches, chat_turns, columns, shapes, __main__.
"""
