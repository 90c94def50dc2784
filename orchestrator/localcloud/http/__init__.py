"""Requests to the local cloud, and their answers.

web.py          how does a request come in, and an answer go out?
guard.py        who may speak to this cloud?
signature.py    is a request signed, and for which service and Region?
call.py         what are a request's parameters?
operations.py   which operation of the service is it?
forms.py        how are EC2's parameters read?
gateway.py      who answers a request: a service of ours, or moto?
rates.py        may this call come so soon after the others?
validation.py   does a request keep to AWS's own description of it?
answers.py      what do AWS's answers and errors look like?
overview.py     which facts does the page show?
page.py         what does the page look like?
"""
