"""The command line: parse, call the api, render. Nothing is decided here."""
