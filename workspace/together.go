package workspace

import (
	"runtime"
	"sync"
)

// together calls do for 0 to n-1, on as many threads as there are processors when there is enough to do: looks at
// files are system calls that can go on side by side.
func together(n int, do func(i int)) {
	workers := min(runtime.GOMAXPROCS(0), 4, n/8)
	if workers < 2 {
		for i := range n {
			do(i)
		}
		return
	}
	var wait sync.WaitGroup
	for w := range workers {
		wait.Go(func() {
			for i := w; i < n; i += workers {
				do(i)
			}
		})
	}
	wait.Wait()
}
