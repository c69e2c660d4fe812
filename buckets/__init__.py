"""The five bucket declarations and the sample corpus."""
