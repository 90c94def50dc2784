"""What AWS shows of its prices, quotas and spot markets: made up, plausible, and the same on every machine.

price_table.py     which Regions and instance types are there, and what do they cost?
pricing.py         how does AWS's Price List show these prices?
spot_market.py     what does EC2 show of its spot market?
spot_advisor.py    how often are spot instances taken back?
commitments.py     what is paid for already?
service_quotas.py  how does Service Quotas show the account's quotas?
"""
