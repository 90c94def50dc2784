"""One sweep over SageMaker, EC2 and EKS at once, on the local cloud.

company.py        what has the company: data in four Regions, prices, quotas, a script that writes down what it does?
test_forty.py     are 40 tasks done once, whatever befalls machines, Regions and capacity?
test_stories.py   do commands do the same as on one platform, in whatever order they come?
"""
