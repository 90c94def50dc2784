"""The plan: what it says, its file, the slots that it takes, and how plans are drawn.

A plan is a value: small, immutable, and named by the hash of its content.

    plan.py             what does a plan say: which tasks go where, for how much?
    copy.py             what does a plan copy, before tasks begin?
    dataset.py          what do tasks train on?
    facts.py            which prices and quotas was a plan made by?
    work.py             what makes two tasks the same piece of work?
    together.py         which of its places does one request ask for?
    one_task.py         which sweep file has one task of a plan alone?
    file.py             how is a plan written to a file, and read back?
    launcher_price.py   what does a launcher cost?
    tiers.py            what do so many gigabytes cost, where the first have another price than the next?
    dollars.py          with how many digits do two amounts look different?
    slots.py            how many slots of each lane does a plan take?
    frontier_chart.py   how are plans drawn, from the cheapest to the fastest?
"""
