package sandbox

import "context"

// Run starts a plan and waits for its end; every process of the run that can be found is gone when it returns. The error is
// a *StartError when the program never ran. When ctx ends, the run is killed and End says Cancelled.
func Run(ctx context.Context, plan Plan, streams IO) (End, error) {
	closeFiles(streams.Tree)
	return runGroup(ctx, plan, streams)
}
