"""The place where scripts for onnxruntime look for its exceptions."""
