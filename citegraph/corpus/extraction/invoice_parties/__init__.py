"""The seller and the buyer of an invoice, by what stands near their names."""
