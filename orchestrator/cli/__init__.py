"""The command line: parse, call the api, render. Nothing is decided here.

app.py           how does `sweep` begin and end? (Ctrl-C, signals, exit codes)
program.py       which commands are there, in which order, and which options stand before any of them?
commands/        what does one command do? (a file is called like its command)
starter/         what does `sweep init` write?

What the commands share:

options.py       options and arguments of several commands
session.py       what do the options before a command name, and how is a run opened?
complete.py      which names are offered where a shell completes a word?
confirm.py       how does a command ask before it spends money or stops work?
errors.py        how does an error become one line and an exit code?

How things are shown:

render.py        how is a list printed, as a table, as JSON and as CSV?
formatting.py    how does one value read: money, time, bytes?
jsonable.py      how does a value of our types become JSON?
status_view.py   how is the status of a run shown?
follow.py        how is a run watched?
frontier.py      how are the plans of `sweep plan --frontier` shown?
discover_view.py  how is it shown what `sweep catalog discover` has found?
refresh_view.py  how is it shown what `sweep catalog refresh` has brought?
metric_warning.py   who says that nothing ranks the results?
pause_words.py   how is it said that a run is paused?
files.py         how is a file written, whole or not at all?
"""
