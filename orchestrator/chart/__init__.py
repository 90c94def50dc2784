"""Pictures of numbers: what is drawn, apart from how it is written down. No other room is needed for it.

panel.py     how do series of points become a chart with axes?
drawing.py   what is a picture made of? (lines and words at their places)
svg.py       how is a drawing written as SVG?
png.py       how is a drawing written as PNG?
"""
