"""AWS's verbs, a module per service. They do as they are told: every decision is made elsewhere."""
