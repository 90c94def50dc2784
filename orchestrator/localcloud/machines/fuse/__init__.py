"""A file system of S3's objects, for channels that are streamed (FastFile): nothing is copied before it is read.

Linux alone is needed for it, and the right to mount: we speak with the kernel by /dev/fuse ourselves.

tree.py       which folders and files are there, and what is in them?
messages.py   what do the kernel's questions look like in bytes, and the answers?
answer.py     what is the answer to a question?
shown.py      who answers for which folder?
mount.py      how does a process get such a folder? (a script)
"""
