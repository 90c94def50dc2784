"""What is sent for one attempt.

request.py     what is it, all in all?
manifests.py   what do the Job and its Service look like?
amounts.py     what does a pod ask for?
words.py       what are things called there?
begin.py       how is it started, whoever has tried before?
"""
