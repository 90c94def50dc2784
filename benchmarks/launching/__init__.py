"""What it takes to launch trainings, and to notice that they have ended.

manifest.py    reading one line of a million
launcher.py    one launcher, beside a script with the SageMaker SDK
classic.py     that script
stub.py        the AWS that both of them talk to, which counts their calls
noticing.py    how soon the ends of thousands of trainings are seen, and with how many calls
crowd.py       those trainings
"""
