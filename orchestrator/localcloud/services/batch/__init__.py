"""AWS Batch: queues, definitions, and jobs that are processes of this machine."""
