package sidecar

// What the tests of this package share with those that see it from outside.
var (
	ShimForTests      = testShim
	RequireBubblewrap = requireBubblewrap
)
