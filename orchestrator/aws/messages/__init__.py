"""Messages that are sent, and those that wait.

sns.py  how is a message published?
sqs.py  what lies in a queue, and who takes it away?
"""
