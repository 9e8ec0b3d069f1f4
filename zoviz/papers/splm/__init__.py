"""Experiments of paper splm."""
