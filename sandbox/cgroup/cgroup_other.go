//go:build !linux

package cgroup

import "errors"

// Look finds nothing on this system.
func Look(string) Facts { return Facts{} }

// Tree is not there on this system.
type Tree struct{ Dir string }

// Open has no tree on this system.
func Open() (*Tree, error) { return nil, errors.ErrUnsupported }

// Close does nothing.
func (*Tree) Close() {}
