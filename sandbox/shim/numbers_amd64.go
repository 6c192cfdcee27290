//go:build linux

package shim

const sysSeccomp = 317
