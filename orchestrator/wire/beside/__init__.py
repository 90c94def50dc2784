"""What is written beside tasks and results: markers, news, boards, and what was found out later.

markers.py   what may still be started of a run, and by whom?
board.py     which trainings of a Region have ended lately, as far as one launcher has seen?
moves.py     where does a task go on, whose checkpoint is brought to another Region first?
news.py      how is told what has changed, so that nothing needs to be read?
measured.py  which metrics were read from logs afterwards, and kept?
lineage.py   what was a dataset copied from, and is it the same?
"""
