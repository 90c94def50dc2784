"""What exists: campaigns and their replicas, prices, quotas. Files become rows, and rows become a Market.

catalog.py           what may the rest of the program ask of the catalog?
platforms.py         what do the installed platforms say of lanes?
market.py            what may the planner know, and in which tables?
files/               how do files become rows? (`sweep catalog load`)

survey/              on what can the datasets of one sweep be trained, and for how much? (`sweep plan`)
shapes.py              what are instance types made of, as far as the catalog was told?
priors.py              what is thought of a lane before anything of ours has run there?
quotas.py            what do these lanes count under, and how much of it is there? (`sweep quotas`)

What people read:

check_catalog.py     what is missing from the loaded catalog, or looks wrong? (`sweep catalog check`)
compact.py            which old observations may go, so that a year of them stays small? (`sweep catalog compact`)
snapshot.py           how does all that a plan is made from become one file? (`sweep catalog snapshot`)
price_history.py     what has an instance cost on each of the last days? (`sweep prices`)
price_chart.py       how is that drawn? (`sweep prices --plot`)
ages.py              when was each price last seen, and which are too old to plan by?
wording.py           how are many names said in few words?
"""
