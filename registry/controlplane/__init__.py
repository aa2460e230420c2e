"""Controlplane: puts kube-apiserver's API groups, admission plugins and bootstrap objects together."""
