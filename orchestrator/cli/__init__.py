"""The command line: parse, call the api, render. Nothing is decided here.

app.py           how does `sweep` begin and end? (Ctrl-C, signals, exit codes)
program.py       which commands are there, in which order, and which options stand before any of them?
commands/        what does one command do? (a file is called like its command)
starter/         what does `sweep init` write?

What the commands share:

options.py       options and arguments of several commands
session.py       what do the options before a command name, and how is a run opened?
complete.py      which names are offered where a shell completes a word?
placing.py       on which line of the sweep file is what an error is about?
confirm.py       how does a command ask before it spends money or stops work?
errors.py        how does an error become one line and an exit code?

How things are shown:

render.py        how is a list printed, as a table, as JSON and as CSV?
formatting.py    how does one value read: money, time, bytes?
jsonable.py      how does a value of our types become JSON?
views/           what do the answers of the larger commands look like?
files.py         how is a file written, whole or not at all?
"""
