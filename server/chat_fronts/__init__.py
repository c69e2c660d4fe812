"""What lets the front ends of others ask: chat completions, MCP, and the page that a citation leads to."""
