"""What one run is made of: settings, budgets, typed pieces of the state, answers, events, services."""
