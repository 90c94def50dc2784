"""An instance's metadata service (IMDS), version 2 and, where that is not required, version 1.

https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instancedata-data-retrieval.html

service.py        what is answered at its address, and to whom?
tree.py           what does it say?
tokens.py         which tokens are good?
credentials.py    which keys does an instance get for its role?
owner.py          whose connection is it?
"""
