"""Says how an attempt stands, by what EC2 tells of its instances and by what they have left in S3.

machines.py  what does EC2 tell of instances?
left.py      what do the machines tell, in S3, when EC2 has forgotten them?
outcome.py   how does an attempt stand by both, and why?
console.py   what has an instance printed that went without a word?
ends.py      when has one ended that has left no word?
bill.py      what has it cost?
steps.py     where has a training spent its time so far?
"""
