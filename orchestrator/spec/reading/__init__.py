"""The way from a file's text to a Sweep.

reader.py               how does a file become a Sweep, and an error one line with its place?
yaml.py                 what is YAML here, and where does each part of a file stand?
mistakes.py             what is wrong with a part of the file, in words?
plain_secrets.py        is there a secret in the file itself?
"""
