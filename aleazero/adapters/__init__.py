"""Environments with the interfaces of Gymnasium and PettingZoo (extra ``gym``)."""
