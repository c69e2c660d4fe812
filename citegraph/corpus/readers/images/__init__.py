"""Pictures and scans, through OCR."""
