"""The hostile corpus: one small function a lie, told to packages of two experiments."""
