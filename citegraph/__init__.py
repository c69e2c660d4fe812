"""The library that the graph stands on: it imports nothing of graph, nodes, tools, server or cli."""
