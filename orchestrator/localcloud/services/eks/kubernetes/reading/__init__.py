"""Shows objects: all that are meant, and whatever happens to them from then on.

lists.py      what is somebody told who lists, page by page?
selectors.py  which objects does somebody mean?
journal.py    what has happened to objects, and as of which version is that known?
watches.py    what is somebody told who watches?
"""
