"""Model folders and what belongs in them: calibration, int8 ranges, reference answers, ONNX, fixtures."""
