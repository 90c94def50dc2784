"""Alembic runs this for each upgrade, on the connection and inside the transaction of `orchestrator.db.migrate`."""

from alembic import context

from orchestrator.db.tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_as_batch=True,  # SQLite alters a table by making it anew
)
with context.begin_transaction():
    context.run_migrations()
