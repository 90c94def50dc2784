"""Decides: a Sweep and a Market in, a Plan out. Pure: no files, no network, no clock unless a time limit is asked for.

The rooms from the ground up, each of which imports only those above it in this list; then the files that use them:

    model/           what is the problem as arrays: what is there to choose from, and what may not be exceeded?
    hours/           how long do tasks take, and where is that known from?
    offer/           what may each cohort choose from, and what does it cost?
    pack/            how many whole tasks do the slots of a lane hold?
    solver/          which choices are cheapest within all limits, and how good is that proven to be?
    explain/         why is a plan as it is, and why is there none?

    solve.py         which plan does a sweep get?
    compose.py       how does a solution become a plan?
    move_prices.py   what does it cost to bring a checkpoint to another Region of its task?
    start_rates.py   when do tasks end, if only so many may be started in a second?
    lane_notes.py    what does a plan's reader hear of waits, refusals and pins?
    starting.py      what does it cost to start trainings, and which tasks are shorter than their start?
    fallbacks.py     where does a share go if its first place has no capacity?
    frontier.py      what does time cost: which plans lie between the cheapest and the fastest?
    today.py         what do the places and copies of a plan cost today?
    promise.py       can what a plan costs at most still be kept?
    stale.py         does a plan still hold in today's market?
    again.py         what becomes of tasks that have places already, and what is it to leave them there?
    difference.py    what changed from one plan to another?
    attribution.py   what has each kind of change cost: prices, learned discounts and runtimes, quotas, data?
"""
