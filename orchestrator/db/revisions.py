"""The revisions of the schema, kept in a module of their own because Alembic and SQLAlchemy are slow to load."""

REVISIONS = ("0001", "0002", "0003", "0004", "0005", "0006", "0007", "0008", "0009", "0013", "0015", "0019", "0020")
"""All revisions that this code knows, the oldest first."""
