"""Commands for what all sweeps of a team share: the catalog, images, the local cloud, what runs for nobody."""
