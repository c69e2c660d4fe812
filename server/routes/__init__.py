"""Routes that the page needs beside asking and browsing."""
