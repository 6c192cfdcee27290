package sandbox

// RunGroup is Run of macOS, which is tested here, too, without a sandbox.
var RunGroup = runGroup

// HangUp closes the way to the sandbox, as the executor's end does.
func (c *Control) HangUp() {
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = c.to.Close()
}
