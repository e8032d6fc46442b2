"""The engine: training, encoding and explaining byte-pair encoding; free of Qt."""
