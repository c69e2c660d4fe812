"""The state machine: state, context, routes, policies and the served graphs."""
