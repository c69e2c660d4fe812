"""What stands before every route: who may ask from where, how much at once, and what they may change."""
