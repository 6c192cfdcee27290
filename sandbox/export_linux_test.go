package sandbox

// RunGroup is Run of macOS, which is tested here, too, without a sandbox.
var RunGroup = runGroup
