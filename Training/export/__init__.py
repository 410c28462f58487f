"""Model folders and what belongs in them: int8 ranges, reference answers, ONNX, fixtures."""
