"""AWS's facts brought into the catalog (`sweep catalog refresh`, `sweep catalog discover`, `sweep catalog import`).

feeds.py       what do feeds fill, and when?
every.py       which feeds are there?
refresh.py     how are feeds read, Regions side by side, and what becomes of one that fails?
look.py        which folders of datasets lie in S3, and what lies in each?
inventory.py   what does S3 Inventory tell of a bucket that is too large to list?
discover.py    which folders are the same dataset, and how is that known?
elsewhere.py   does a folder agree with the catalog's replicas that were not looked at?
pattern.py     which dataset does an object belong to?
campaign_database.py  how does a team's own database become campaigns, datasets and replicas?
transfers.py   what does it cost to bring data from one Region to another?
storage.py     what does it cost to keep data in S3?

Each platform brings feeds of its own: they are named by its operating part.
"""
