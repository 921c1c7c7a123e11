"""What the evidence and rows of benchmarks are made of: shapes, readers, an invented world."""
